"""``factormech …``: one question answered without a workflow; each module answers one group of commands."""
