// Asks the browser's authenticator for a key, or for a signature, and sends a form with the answer.
"use strict";

const bytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));

function say(form, words) {
  const place = form.querySelector("[data-said]");
  place.textContent = words;
  place.hidden = !words;
}

function send(form, fields, button) {
  for (const [name, value] of Object.entries(fields)) {
    form.elements[name].value = value;
  }
  form.dataset.signed = "yes";
  form.requestSubmit(button);
}

async function makeKey(form) {
  const made = await navigator.credentials.create({
    publicKey: {
      rp: { id: location.hostname, name: "duetto" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: form.elements.name.value, displayName: form.elements.name.value },
      challenge: bytes(form.dataset.challenge),
      pubKeyCredParams: JSON.parse(form.dataset.algorithms).map((alg) => ({ type: "public-key", alg })),
      authenticatorSelection: { userVerification: "required" },
      attestation: "none",
    },
  });
  return { attestation: text(made.response.attestationObject), client: text(made.response.clientDataJSON) };
}

async function sign(form, button) {
  const named = Object.fromEntries(["person", "behalf"].map((name) => [name, form.elements[name]?.value ?? ""]));
  const asked = new URLSearchParams({ act: button.value, digest: form.dataset.digest, peer: form.dataset.peer, ...named });
  const answer = await fetch(`/persons/statement?${asked}`, { headers: { accept: "application/json" } });
  const stated = await answer.json();
  if (!answer.ok) {
    throw new Error(`${stated.what} ${stated.hint}`);
  }
  const found = await navigator.credentials.get({
    publicKey: {
      rpId: location.hostname,
      challenge: bytes(stated.challenge),
      allowCredentials: stated.keys.map((id) => ({ type: "public-key", id: bytes(id) })),
      userVerification: "required",
    },
  });
  const { authenticatorData, clientDataJSON, signature } = found.response;
  return {
    moment: stated.moment,
    credential: text(found.rawId),
    authenticator: text(authenticatorData),
    client: text(clientDataJSON),
    signature: text(signature),
  };
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const work = { key: makeKey, act: sign }[form.dataset.signing];
  if (!work || form.dataset.signed) {
    return;
  }
  event.preventDefault();
  say(form, "");
  work(form, event.submitter).then(
    (fields) => send(form, fields, event.submitter),
    (problem) => say(form, problem.name === "NotAllowedError" ? "Nothing was signed: the browser was not allowed to, or it took too long. Try again." : problem.message),
  );
});
