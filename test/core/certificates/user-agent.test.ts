// Tests how User-Agent strings map to operating system and browser families, and how known bots are recognized.
import { describe, expect, test } from "vitest";
import { parseBrowserFamily, isKnownBot, parseOsFamily } from "../../../core/certificates/user-agent.ts";

describe("user agents", () => {
  test.each<readonly [string, string | null, string | null]>([
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
      "Windows",
      "Chrome",
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
      "Windows",
      "Edge",
    ],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0", "Windows", "Firefox"],
    [
      "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/120.0.0.0",
      "Windows",
      "Opera",
    ],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
      "macOS",
      "Safari",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1",
      "iOS",
      "Safari",
    ],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/142.0 Mobile/15E148 Safari/604.1", "iOS", "Chrome"],
    ["Mozilla/5.0 (iPad; CPU OS 19_0 like Mac OS X) AppleWebKit/605.1.15 FxiOS/145.0 Mobile/15E148 Safari/605.1.15", "iOS", "Firefox"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) EdgiOS/142.0 Mobile/15E148 Safari/605.1.15", "iOS", "Edge"],
    [
      "Mozilla/5.0 (Linux; Android 16; Pixel 10) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
      "Android",
      "Chrome",
    ],
    [
      "Mozilla/5.0 (Linux; Android 15; SM-S928B) AppleWebKit/537.36 SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
      "Android",
      "Samsung Internet",
    ],
    [
      "Mozilla/5.0 (X11; CrOS x86_64 16000.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
      "ChromeOS",
      "Chrome",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Linux", "Firefox"],
    ["curl/8.5.0", null, null],
    ["", null, null],
  ])("returns the families of %s", (userAgent, os, browser) => {
    expect([parseOsFamily(userAgent), parseBrowserFamily(userAgent)]).toEqual([os, browser]);
  });

  test.each([
    ["", false],
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", true],
    ["Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", true],
    ["facebookexternalhit/1.1", true],
    ["WhatsApp/2.23.20.0", true],
    ["Twitterbot/1.0", true],
    ["Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", true],
    ["curl/8.5.0", false],
    ["python-requests/2.32", false],
    ["Iframely/1.3.1 (+https://iframely.com/docs/about)", true],
    ["Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)", true],
    ["Mastodon/4.3.0 (http.rb/5.2.0; +https://social.example/)", true],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1", false],
    ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", false],
    ["Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/142.0.0.0 Mobile Safari/537.36", false],
  ])("isKnownBot decides on %j: %s", (userAgent, isOne) => {
    expect(isKnownBot(userAgent)).toBe(isOne);
  });
});
