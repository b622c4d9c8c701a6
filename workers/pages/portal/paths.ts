// Where the pages of the portal are that need no id, for its menus and for whatever goes through all of them.

export const liveRoot = "/portal";
export const testRoot = "/portal/test";

/** In the order of the menu. */
export const tabs = [
  ["home", "/portal"],
  ["sandbox", "/portal/sandbox"],
  ["certificates", "/portal/certificates"],
  ["deadlines", "/portal/deadlines"],
  ["shares", "/portal/shares"],
  ["domains", "/portal/domains"],
  ["snippet", "/portal/snippet"],
  ["webhooks", "/portal/webhooks"],
  ["events", "/portal/events"],
  ["keys", "/portal/keys"],
  ["requests", "/portal/requests"],
  ["team", "/portal/team"],
  ["audit", "/portal/audit"],
  ["billing", "/portal/billing"],
  ["settings", "/portal/settings"],
] as const;

/** Those that stand in no menu among them. The clock is of test mode alone. */
export const livePaths: readonly string[] = [
  ...tabs.filter(([name]) => name !== "sandbox").map(([, path]) => path),
  "/portal/steps",
  "/portal/businesses",
];
export const testPaths: readonly string[] = ["/portal/sandbox", ...livePaths].map((path) => `${testRoot}${path.slice(liveRoot.length)}`);
