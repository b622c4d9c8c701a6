// Tests the alerts that tell the operator that a value has passed its threshold.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  alertDefinitions,
  alertKinds,
  findDueNotices,
  formatAlertMail,
  getAlertPage,
  type AlertFigures,
  type AlertState,
} from "../../core/alerts.ts";
import { dayMs } from "../../core/time.ts";

const now = Date.parse("2026-12-04T10:00:00Z");
const thresholds = Object.fromEntries(alertKinds.map((kind) => [kind, 10])) as AlertFigures;
const calm = Object.fromEntries(alertKinds.map((kind) => [kind, 0])) as AlertFigures;
const find = (figures: Partial<AlertFigures>, states: readonly AlertState[] = [], at = now) =>
  findDueNotices({ figures: { ...calm, ...figures }, thresholds }, states, at, dayMs);

describe("a notice", () => {
  test("is due when a figure exceeds its threshold, but not when it only reaches it", () => {
    expect(find({ full_shard: 10 })).toEqual([]);
    expect(find({ full_shard: 11 })).toEqual([{ kind: "full_shard", change: "raised", since: now }]);
  });

  test("is repeated after a day, and keeps the time at which it began", () => {
    const state: AlertState = { kind: "failed_mail", since: now, notifiedAt: now };
    expect(find({ failed_mail: 99 }, [state], now + dayMs - 1)).toEqual([]);
    expect(find({ failed_mail: 99 }, [state], now + dayMs)).toEqual([{ kind: "failed_mail", change: "raised", since: now }]);
  });

  test("about the end of an alert is not due while a shard that may have caused the alert does not respond", () => {
    const states: readonly AlertState[] = [
      { kind: "overdue_work", since: now - 5, notifiedAt: now },
      { kind: "unavailable_shards", since: now - 5, notifiedAt: now },
    ];
    expect(find({ unavailable_shards: 1 }, states)).toEqual([{ kind: "unavailable_shards", change: "ended", since: now - 5 }]);
    expect(find({ unavailable_shards: 11 }, states)).toEqual([]);
  });

  test("is due once after the figure is back below its threshold", () => {
    const state: AlertState = { kind: "overdue_work", since: now - 5, notifiedAt: now };
    expect(find({}, [state])).toEqual([{ kind: "overdue_work", change: "ended", since: now - 5 }]);
    expect(find({}, [])).toEqual([]);
  });
});

test.each(alertKinds)("%s has a page that says what to do, and an email that links to it", (kind) => {
  const page = getAlertPage(kind);
  expect(existsSync(page)).toBe(true);
  const { title, setting, defaultThreshold } = alertDefinitions[kind];
  const text = readFileSync(page, "utf8");
  expect(text.startsWith(`# ${title}\n`)).toBe(true);
  expect(text).toContain(`\`${setting}\`, ${defaultThreshold}`);
  expect(text).toContain("## What to do");
  const mail = formatAlertMail({ kind, change: "raised", since: now }, 42, 10, "api.acme.test");
  expect(mail.subject).toBe(`${title} (api.acme.test)`);
  expect(mail.text).toContain(page);
  expect(mail.text).toMatch(new RegExp(`^[A-Z][a-z0-9 ]+: 42\\. The threshold is 10 \\(${setting}\\)\\.$`, "m"));
  expect(mail.text).toContain("2026-12-04T10:00:00.000Z");
});
