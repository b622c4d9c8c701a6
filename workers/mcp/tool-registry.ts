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

export const findTool = (name: string): Tool | undefined => tools.find((one) => one.name === name);

export const getToolRealms = ({ descriptions }: Tool): readonly Realm[] => realms.filter((realm) => Object.hasOwn(descriptions, realm));

export const listToolsForRealm = (realm: Realm): readonly Tool[] => tools.filter((one) => getToolRealms(one).includes(realm));

/** In which revision a tool is listed and called; `appUrl` is where the person decides. */
export interface ToolListing {
  readonly realm: Realm;
  readonly isLater: boolean;
  readonly appUrl: string;
}

const getHandOver = ({ handOver }: Tool, { realm, isLater }: Omit<ToolListing, "appUrl">) =>
  isLater && realm === "consumer" ? handOver : undefined;

/** The arguments of a tool. */
export const getInputSchema = (of: Tool, listed: Omit<ToolListing, "appUrl">): z.ZodObject =>
  getHandOver(of, listed)?.inputSchema ?? of.inputSchema;

interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly title: string } & Tool["hints"];
}

/** Said of every tool, so that no model looks for one that grants. */
const cannotGrantNote = (appUrl: string): string =>
  `An agent can never agree to, widen or renew a share, or issue a certificate; the person does that at ${appUrl}/app/shares/<share_id>.`;

/** As protocol 2025-03-26 knows it. */
export const toolToWire = (of: Tool, listed: ToolListing): ToolDefinition => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(getInputSchema(of, listed), { io: "input" });
  const { name, title, descriptions, hints } = of;
  const description = `${descriptions[listed.realm]} ${cannotGrantNote(listed.appUrl)}`;
  return { name, description, inputSchema, annotations: { title, ...hints } };
};

const openAtSchema = { type: "string", description: "Where the person finds this share; only they can open it." };

/** As revision 2026-07-28 knows it. A member that comes later must break no client, so none is ruled out. */
export const modernToolToWire = (
  of: Tool,
  listed: ToolListing,
): ToolDefinition & { readonly title: string; readonly outputSchema: object } => {
  const { $schema: _, ...gives } = z.toJSONSchema(of.outputSchema, { io: "input" });
  const outputSchema =
    getHandOver(of, listed) === undefined ? gives : { ...gives, properties: { ...gives.properties, open_at: openAtSchema } };
  return { ...toolToWire(of, listed), title: of.title, outputSchema };
};
