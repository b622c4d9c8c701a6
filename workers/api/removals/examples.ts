// A worked removal, from its request to its end.
const at = "2026-11-20T10:05:00.000Z";
export const removalExample = {
  id: "rmv_00k3v9d2m4q8x1c7b5n0t6w2h9",
  status: "requested",
  targets: [{ name: "spokeo", status: "requested", completed_at: null }],
  notes: null,
  requested_at: at,
  completed_at: null,
  recheck_at: null,
  affidavit_url: null,
  affidavit: null,
};
export const removalsExample = { removals: [removalExample], targets: [{ name: "spokeo", title: "Spokeo" }] };
