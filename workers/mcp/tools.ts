// Every tool, in the order in which they are listed. No tool creates, widens or renews a share, and none issues a certificate.
import { z } from "@hono/zod-openapi";
import { realms, type Realm } from "../../core/access/session.ts";
import type { Tool } from "./tool.ts";
import { getAudit } from "./tools/get-audit.ts";
import { getShare } from "./tools/get-share.ts";
import { listEvents } from "./tools/list-events.ts";
import { listShares } from "./tools/list-shares.ts";
import { revokeShare } from "./tools/revoke-share.ts";
import { updateField } from "./tools/update-field.ts";

export const tools: readonly Tool[] = [listShares, getShare, revokeShare, updateField, getAudit, listEvents];

export const toolNamed = (name: string): Tool | undefined => tools.find((one) => one.name === name);

export const realmsOf = ({ descriptions }: Tool): readonly Realm[] => realms.filter((realm) => Object.hasOwn(descriptions, realm));

export const toolsOf = (realm: Realm): readonly Tool[] => tools.filter((one) => realmsOf(one).includes(realm));

/** In which revision a tool is listed and called; `appUrl` is where the person decides. */
export interface Listed {
  readonly realm: Realm;
  readonly isLater: boolean;
  readonly appUrl: string;
}

const handedOver = ({ handsOver }: Tool, { realm, isLater }: Omit<Listed, "appUrl">) =>
  isLater && realm === "consumer" ? handsOver : undefined;

/** The arguments of a tool. */
export const takesOf = (of: Tool, listed: Omit<Listed, "appUrl">): z.ZodObject => handedOver(of, listed)?.takes ?? of.takes;

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly title: string } & Tool["hints"];
}

/** Said of every tool, so that no model looks for one that grants. */
const neverGrants = (appUrl: string): string =>
  `An agent can never agree to, widen or renew a share, or issue a certificate; the person does that at ${appUrl}/app/shares/<share_id>.`;

/** As protocol 2025-03-26 knows it. */
export const definitionOf = (of: Tool, listed: Listed): Definition => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(takesOf(of, listed), { io: "input" });
  const { name, title, descriptions, hints } = of;
  const description = `${descriptions[listed.realm]} ${neverGrants(listed.appUrl)}`;
  return { name, description, inputSchema, annotations: { title, ...hints } };
};

const openAtSchema = { type: "string", description: "Where the person finds this share; only they can open it." };

/** As revision 2026-07-28 knows it. A member that comes later must break no client, so none is ruled out. */
export const modernDefinitionOf = (of: Tool, listed: Listed): Definition & { readonly title: string; readonly outputSchema: object } => {
  const { $schema: _, ...gives } = z.toJSONSchema(of.gives, { io: "input" });
  const outputSchema =
    handedOver(of, listed) === undefined ? gives : { ...gives, properties: { ...gives.properties, open_at: openAtSchema } };
  return { ...definitionOf(of, listed), title: of.title, outputSchema };
};
