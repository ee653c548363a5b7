"""Less detail without any change: coding, generalization, suppression, sampling."""
