// Who hears of a change of contact fields.
import { expect, test } from "vitest";
import { audienceOf } from "../../../core/shares/audience.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import type { Share, ShareStatus } from "../../../core/shares/share.ts";

const share = (name: string, status: ShareStatus, scope: readonly ContactKey[]): Share =>
  ({ business: { id: `biz_${name}`, name }, status, scope }) as unknown as Share;

test("businesses with an active share of a changed field are told, each once", () => {
  const shares = [share("A", "active", ["email", "phone"]), share("A", "active", ["phone"]), share("B", "active", ["email"])];
  expect(audienceOf(shares, ["phone"])).toEqual({ told: ["A"], notTold: [] });
  expect(audienceOf(shares, ["email"])).toEqual({ told: ["A", "B"], notTold: [] });
  expect(audienceOf(shares, ["city"])).toEqual({ told: [], notTold: [] });
});

test("those that had the field under a share that is over are not, unless another share holds it", () => {
  const shares = [share("A", "revoked", ["phone"]), share("B", "expired", ["phone"]), share("B", "active", ["phone"])];
  expect(audienceOf(shares, ["phone"])).toEqual({ told: ["B"], notTold: ["A"] });
});

test("two businesses of one name are two", () => {
  const other = { ...share("A", "active", ["phone"]), business: { id: "biz_other", name: "A" } } as unknown as Share;
  expect(audienceOf([share("A", "active", ["phone"]), other], ["phone"]).told).toEqual(["A", "A"]);
});
