// The family of operating system and browser named by a User-Agent. Only families: browsers freeze the rest of the text,
// and the trail needs to say "an iPhone", not more.

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
 * Link previews, crawlers and monitors: their opens are kept in the trail, marked, and not counted. Only names that say so:
 * a tool or a request without a name may have a reader behind it, and an open that is not counted is evidence lost. CUBOT
 * makes telephones.
 */
export const isKnownBot = (userAgent: string): boolean =>
  /(?<!\bCU)bot\b|crawl|spider|slurp|preview|facebookexternalhit|WhatsApp|Slackbot|Discordbot|TelegramBot|Twitterbot|LinkedInBot|Embedly|Iframely|vkShare|Viber|Cardyb|Mastodon|Lighthouse|Google-InspectionTool|monitor|uptime/i.test(
    userAgent,
  );
