// Tests which businesses are notified when contact fields change.
import { expect, test } from "vitest";
import { findChangeRecipients } from "../../../core/shares/change-recipients.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import type { Share, ShareStatus } from "../../../core/shares/share.ts";

const share = (name: string, status: ShareStatus, scope: readonly ContactKey[]): Share =>
  ({ business: { id: `biz_${name}`, name }, status, scope }) as unknown as Share;

test("businesses with an active share of a changed field are notified once", () => {
  const shares = [share("A", "active", ["email", "phone"]), share("A", "active", ["phone"]), share("B", "active", ["email"])];
  expect(findChangeRecipients(shares, ["phone"])).toEqual({ notified: ["A"], notNotified: [] });
  expect(findChangeRecipients(shares, ["email"])).toEqual({ notified: ["A", "B"], notNotified: [] });
  expect(findChangeRecipients(shares, ["city"])).toEqual({ notified: [], notNotified: [] });
});

test("businesses with only ended shares of the field are not notified", () => {
  const shares = [share("A", "revoked", ["phone"]), share("B", "expired", ["phone"]), share("B", "active", ["phone"])];
  expect(findChangeRecipients(shares, ["phone"])).toEqual({ notified: ["B"], notNotified: ["A"] });
});

test("two businesses with the same name are listed separately", () => {
  const other = { ...share("A", "active", ["phone"]), business: { id: "biz_other", name: "A" } } as unknown as Share;
  expect(findChangeRecipients([share("A", "active", ["phone"]), other], ["phone"]).notified).toEqual(["A", "A"]);
});
