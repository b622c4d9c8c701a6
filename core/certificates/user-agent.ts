// Parses the operating system and browser family from a User-Agent. Ignores the rest, because browsers no longer update it.

const osPatterns: readonly (readonly [RegExp, string])[] = [
  [/Windows NT|Win64|Windows Phone/, "Windows"],
  [/iPhone|iPad|iPod/, "iOS"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
];

const browserPatterns: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\/|Chromium\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const findFamily = (table: readonly (readonly [RegExp, string])[], userAgent: string): string | null =>
  table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null;

export const parseOsFamily = (userAgent: string): string | null => findFamily(osPatterns, userAgent);
export const parseBrowserFamily = (userAgent: string): string | null => findFamily(browserPatterns, userAgent);

/**
 * Returns whether the User-Agent belongs to a link preview, crawler or monitor. Views by these programs are recorded and marked, but not
 * counted. Unknown programs do not match, because a person may be using one. CUBOT, a phone brand, does not match either.
 */
export const isKnownBot = (userAgent: string): boolean =>
  /(?<!\bCU)bot\b|crawl|spider|slurp|preview|facebookexternalhit|WhatsApp|Slackbot|Discordbot|TelegramBot|Twitterbot|LinkedInBot|Embedly|Iframely|vkShare|Viber|Cardyb|Mastodon|Lighthouse|Google-InspectionTool|monitor|uptime/i.test(
    userAgent,
  );
