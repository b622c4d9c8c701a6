// The portal's navigation: groups of pages in order, each page with its icon.
import type { messages } from "../i18n/en/portal.ts";
import type { IconName } from "../shared/icon-names.ts";
import { accountPath, liveRootPath } from "./paths.ts";

/** The names of the tabs. All are in the navigation, except `requests`. */
export type Tab = keyof typeof messages.tabs;

interface NavigationGroup {
  /** The key of the group's heading; null for the group at the top, which has none. */
  readonly name: "consent" | "developers" | "account" | null;
  readonly tabs: readonly (readonly [tab: Tab, icon: IconName])[];
}

export const navigationGroups: readonly NavigationGroup[] = [
  { name: null, tabs: [["home", "house"]] },
  {
    name: "consent",
    tabs: [
      ["certificates", "file-badge"],
      ["deadlines", "clock-alert"],
      ["shares", "share-2"],
    ],
  },
  {
    name: "developers",
    tabs: [
      ["snippet", "code-xml"],
      ["webhooks", "webhook"],
      ["events", "activity"],
      ["keys", "key-round"],
      ["domains", "globe"],
      ["sandbox", "timer"],
    ],
  },
  {
    name: "account",
    tabs: [
      ["team", "users"],
      ["audit", "scroll-text"],
      ["billing", "credit-card"],
      ["settings", "settings"],
    ],
  },
];

export const tabPath = (tab: Tab): string => (tab === "home" ? liveRootPath : `${liveRootPath}/${tab}`);

/**
 * The pages of live mode that tests and benchmarks visit: all pages without an ID in their path, except those for signing in, invitations
 * and confirmations. The sandbox page exists in test mode only.
 */
export const livePaths: readonly string[] = [
  ...navigationGroups.flatMap(({ tabs }) => tabs.map(([tab]) => tabPath(tab))).filter((path) => path !== "/portal/sandbox"),
  "/portal/requests",
  "/portal/steps",
  "/portal/webhooks/new",
  "/portal/businesses",
  accountPath,
];
