// Tests the audit entries of an owner's links between recipient names and businesses.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { callPortal, listAuditEntryTypes, signUpBusiness } from "../../support/portal.ts";
import { createServiceCall, world } from "../../support/world.ts";

test("DELETE /v1/business/portal/recipients records a link once that another request removes at the same time", async () => {
  const owner = await signUpBusiness("owner@recipients.example");
  const link = { entity: "Bright Homes Inc", business_id: world.other.id };
  expect((await callPortal(owner, "POST", "/recipients", link)).status).toBe(201);
  let isDeletion = false;
  let wasOvertaken = false;
  const overtaken = {
    prepare: (text: string) => {
      isDeletion ||= text.startsWith('delete from "linked_recipients"');
      return env.DB.prepare(text);
    },
    withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
    batch: async (statements: D1PreparedStatement[]) => {
      if (isDeletion && !wasOvertaken) {
        wasOvertaken = true;
        expect((await callPortal(owner, "DELETE", "/recipients", link)).status).toBe(200);
      }
      return env.DB.batch(statements);
    },
  };
  expect((await callPortal(owner, "DELETE", "/recipients", link, {}, createServiceCall({ DB: overtaken }))).status).toBe(200);
  expect(wasOvertaken).toBe(true);
  const types = await listAuditEntryTypes(owner.id);
  expect(types.filter((type) => type.startsWith("recipient."))).toEqual(["recipient.linked", "recipient.unlinked"]);
});
