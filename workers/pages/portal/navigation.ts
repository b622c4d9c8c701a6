// The portal's navigation: its groups and pages in order, each with its icon.
import type { IconName } from "../shared/icon-names.ts";
import type { tabs } from "./paths.ts";

type Tab = (typeof tabs)[number][0];

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
