// Tests linking a recipient's name to a business: the length of the name, and the audit entries if two requests remove a link at the same
// time.
import { expect, test } from "vitest";
import { createOvertakenCall } from "../../support/overtaken-call.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness } from "../../support/portal.ts";
import { world } from "../../support/world.ts";

test("POST /v1/business/portal/recipients accepts names of up to 200 characters, as certificates do", async () => {
  const owner = await signUpBusiness("owner@long-recipients.example");
  const link = (length: number) => callPortal(owner, "POST", "/recipients", { entity: "b".repeat(length), business_id: world.other.id });
  expect((await link(200)).status).toBe(201);
  expect((await link(201)).body.error.message).toBe("entity: must be at most 200 characters.");
  expect((await link(301)).body.error.message).toBe("entity: must be at most 200 characters.");
});

test("DELETE /v1/business/portal/recipients records a link once that another request removes at the same time", async () => {
  const owner = await signUpBusiness("owner@recipients.example");
  const link = { entity: "Bright Homes Inc", business_id: world.other.id };
  expect((await callPortal(owner, "POST", "/recipients", link)).status).toBe(201);
  const overtaken = createOvertakenCall('delete from "linked_recipients"', async () => {
    expect((await callPortal(owner, "DELETE", "/recipients", link)).status).toBe(200);
  });
  expect((await callPortal(owner, "DELETE", "/recipients", link, {}, overtaken)).status).toBe(200);
  const types = await listAuditEntryTypes(owner.id);
  expect(types.filter((type) => type.startsWith("recipient."))).toEqual(["recipient.linked", "recipient.unlinked"]);
});
