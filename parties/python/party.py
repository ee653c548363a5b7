"""This party as scripts and notebooks see it: with all that the command line can say of its home.

What a method returns is what the command of that name prints with `--json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parties.catalog.declarations.declaration import Catalog, load_catalog
from parties.catalog.loading.described import count_document, dataset_document, dataset_documents
from parties.catalog.reading import Reader
from parties.catalog.recipes import recipe, splink_model
from parties.certificates.verification import read_certificate
from parties.client import Party, Result, job_text
from parties.config import Config, load
from parties.doctor import examine_cluster, examine_peer, examine_self
from parties.findings import Status
from parties.jobs.checks.opening import local_admission
from parties.jobs.checks.spending import ledger_document, log_document
from parties.jobs.reports import policy_document
from parties.pki.home import load_identity, load_peer
from parties.results.quality_chart import save_quality_chart
from parties.session.pools import PoolStore, kept_documents, pool_documents
from smc.analyses.matching.suggestion.errors import ErrorModel
from smc.analyses.matching.suggestion.suggest import Assumed
from smc.forms import Role


class HomeParty(Party):
    """This party: its jobs by its running daemon, and its ledger, data, policy and pools from its home.

    Args:
        config_path: the party's `duetto.toml` or its folder; looked for like `duetto --config` if None.

    Raises:
        ConfigError: there is no configuration, or it is wrong.
    """

    def ledger(self) -> dict[str, Any]:
        """What has been spent, by people and peer, and what that guarantees; as `duetto ledger show`.

        Raises:
            LedgerError: the ledger is not whole.
        """
        return ledger_document(self._config)

    def ledger_log(self) -> dict[str, Any]:
        """All entries of the ledger in their order; as `duetto ledger log`. Raises as `ledger`."""
        return log_document(self._config)

    def datasets(self) -> list[dict[str, Any]]:
        """The declared data sets; as `duetto data list`.

        Raises:
            ConfigError: the catalog is wrong.
        """
        return dataset_documents(self._catalog)

    def dataset(self, name: str) -> dict[str, Any]:
        """What is declared of a data set; as `duetto data describe`.

        Raises:
            ConfigError: the catalog is wrong.
            DataError: it has no such data set.
        """
        return dataset_document(self._catalog.dataset(name))

    def check_data(self, name: str) -> dict[str, Any]:
        """Check every row of a data set, and count rows, persons and missing cells; as `duetto data check`.

        Raises:
            DataError: a row is not as declared, or there is no such data set.
            ConfigError: the catalog is wrong.
        """
        dataset = self._catalog.dataset(name)
        return count_document(Reader(self._config.limits).load(dataset, dataset.columns))

    def suggest(
        self,
        source: str,
        roles: Mapping[str, str] | None = None,
        *,
        peer_rows: int = 0,
        overlap: float = 0.5,
        errors: float = 1.0,
        kind: str = "menu",
        passes: int = 7,
        compare: Sequence[str] = (),
        splink: Path | str | None = None,
        least_score: int | None = None,
        histogram: str = "",
        sample: int = 100_000,
        seed: int = 1,
        output: Path | str | None = None,
        chart: Path | str | None = None,
        peer: str | None = None,
    ) -> dict[str, Any]:
        """Suggest a recipe for matching persons; as `duetto matching suggest`. Nothing is sent.

        Args:
            source: a data set of the catalog, or the path of a file.
            roles: the column of each role that is not guessed right, "" for a role to leave out.
            peer_rows: of the other side; 0 for as many as here.
            overlap: share of the smaller side's persons whom both have, 0.01 to 1.
            errors: multiplies the shares of the error model, 0 to 5.
            kind: `menu`, or `own` to find passes and weights by this file; the peer sees them.
            passes: how many passes the recipe `own` has, 1 to 16.
            compare: roles that are compared besides names, date of birth, place and sex.
            splink: a trained model of Splink, a JSON file, whose weights are taken.
            least_score: of a match; None takes that of the highest F.
            histogram: epsilon of a histogram by which the run changes the least score; empty for none.
            sample: rows to link at most, 200 to 200,000.
            seed: of the simulation.
            output: the job file to write; there is none of that name yet.
            chart: an SVG file to write, of precision, recall and F by least score; likewise.
            peer: in the job file; None for the only one that is paired.

        Returns:
            `parameters` for a job, `expected` precision, recall and F, and what these rest on.

        Raises:
            UsageError: an argument is out of range, a role has no column, or the job file cannot be written.
            DomainError: there are too few rows, or birth dates are written in other ways.
            DataError: the data cannot be read.
            ConfigError: the configuration or the catalog is wrong.
        """
        model = ErrorModel().times(errors)
        trained = splink_model(None if splink is None else Path(splink))
        assumed = Assumed(
            *(peer_rows, overlap, model, sample, least_score, seed, histogram, kind, passes),
            tuple(compare),
            trained,
        )
        path = None if output is None else Path(output)
        found = recipe(source, self._config, roles or {}, assumed, output=path, peer=peer)
        if chart is not None:
            save_quality_chart(found, Path(chart))
        return found

    def policy_test(self, job: Path | str | Mapping[str, Any]) -> dict[str, Any]:
        """Check a job against every rule; as `duetto policy test`. Needs no daemon.

        Args:
            job: a job file's path, its text, or its document as a mapping.

        Raises:
            DuettoError: the job file or the local data are wrong. A refusal by the policy is in the document.
        """
        config = self._config
        return policy_document(local_admission(config), job_text(job))

    def doctor(self, *peers: str) -> dict[str, Any]:
        """Check this party and the way to peers, all of them unless some are named; as `duetto doctor`.

        Raises:
            ConfigError: no peer of this name is paired.
        """
        config = self._config
        findings = examine_self(config) + examine_cluster(config)
        for peer in [config.peer(name) for name in peers] if peers else config.peers:
            findings += examine_peer(config, peer)
        failed = any(finding.verdict is Status.FAIL for finding in findings)
        return {"healthy": not failed, "checks": [finding.document() for finding in findings]}

    def pools(self) -> list[dict[str, Any]]:
        """What is prepared for later comparisons; as `duetto pool status`."""
        return pool_documents(PoolStore(self._config.home))

    def kept_pools(self) -> list[dict[str, Any]]:
        """What the configuration wants to have ready, and how much of it there is; from the same command."""
        return kept_documents(PoolStore(self._config.home), self._config.pools)

    def verify(self, certificate: Mapping[str, Any], result: Result | None = None) -> dict[str, Any]:
        """Check a certificate with the keys of this party and of its paired peers.

        Args:
            certificate: as `Job.certificate` gives it, or read from a file.
            result: checked to be the one of the job, if given.

        Returns:
            `valid`, `confirmed`: of each party whether its key is known here, and `result_checked`.

        Raises:
            CertificateError: a signature is wrong, a key is another one, or the result is not the one.
        """
        config = self._config
        keys = {peer.name: load_peer(config, peer).signing for peer in config.peers}
        keys[config.name] = load_identity(config).signing.public_key()
        found = read_certificate(json.dumps(certificate).encode())
        for role in Role:
            if found.name(role) in keys:
                found.confirm(keys[found.name(role)], role)
        if result is not None:
            document = {"tables": result.tables, "notes": list(result.notes), "details": result.details}
            found.check_result({**document, "salt": result.salt})
        confirmed = {found.name(role): found.name(role) in keys for role in Role}
        return {"valid": True, "confirmed": confirmed, "result_checked": result is not None}

    @property
    def _config(self) -> Config:
        """As it stands now."""
        return load(self.config_path)

    @property
    def _catalog(self) -> Catalog:
        return load_catalog(self._config.catalog)
