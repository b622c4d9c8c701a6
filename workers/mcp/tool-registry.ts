// All tools, in the order of tools/list. Tools cannot create, widen or renew a share or issue a certificate.
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

export const findTool = (name: string): Tool | undefined => tools.find((tool) => tool.name === name);

/** Returns the realms in which the tool is available, which are those with a description. */
export const getToolRealms = ({ descriptions }: Tool): readonly Realm[] => realms.filter((realm) => Object.hasOwn(descriptions, realm));

export const listToolsForRealm = (realm: Realm): readonly Tool[] => tools.filter((tool) => getToolRealms(tool).includes(realm));

/** The values that determine a tool's description and arguments. `isModern` is true for revision 2026-07-28. */
export interface ToolListing {
  readonly realm: Realm;
  readonly isModern: boolean;
  readonly appUrl: string;
}

const getHandOver = ({ handOver }: Tool, { realm, isModern }: Omit<ToolListing, "appUrl">) =>
  isModern && realm === "consumer" ? handOver : undefined;

export const getInputSchema = (tool: Tool, listing: Omit<ToolListing, "appUrl">): z.ZodObject =>
  getHandOver(tool, listing)?.inputSchema ?? tool.inputSchema;

interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly title: string } & Tool["hints"];
}

/** Part of every description. Without this note, models look for a tool that grants consent. */
const cannotGrantNote = (appUrl: string): string =>
  `An agent can never issue a certificate, or agree to, widen or renew a share. Only the person can decide about a share, at ${appUrl}/app/shares/<share_id>.`;

/** Converts a tool to the wire format of revision 2025-03-26. */
export const toolToWire = (tool: Tool, listing: ToolListing): ToolDefinition => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(getInputSchema(tool, listing), { io: "input" });
  const { name, title, descriptions, hints } = tool;
  const description = `${descriptions[listing.realm]} ${cannotGrantNote(listing.appUrl)}`;
  return { name, description, inputSchema, annotations: { title, ...hints } };
};

/**
 * An empty registry leaves out the metadata of the API's schemas, which is for the OpenAPI document. Models do not need it in every list of
 * tools.
 */
const noMetadata = z.registry<never>();

const openAtSchema = { type: "string", description: "URL of this share's page in the person's account. Only the person can open it." };

/**
 * Converts a tool to the wire format of revision 2026-07-28. The output schema allows unknown keys, so that new keys do not break clients.
 */
const modernToolToWire = (tool: Tool, listing: ToolListing): ToolDefinition & { readonly title: string; readonly outputSchema: object } => {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.outputSchema, { io: "input", metadata: noMetadata });
  const outputSchema =
    getHandOver(tool, listing) === undefined ? schema : { ...schema, properties: { ...schema.properties, open_at: openAtSchema } };
  return { ...toolToWire(tool, listing), title: tool.title, outputSchema };
};

const wireTools = new Map<string, readonly ToolDefinition[]>();

/** Lists a realm's tools in wire format. Builds each list once per isolate, because converting the schemas takes milliseconds. */
export const listWireTools = (listing: ToolListing): readonly ToolDefinition[] => {
  const { realm, isModern, appUrl } = listing;
  const key = `${realm} ${isModern} ${appUrl}`;
  const known = wireTools.get(key);
  if (known !== undefined) return known;
  const listed = listToolsForRealm(realm).map((tool) => (isModern ? modernToolToWire(tool, listing) : toolToWire(tool, listing)));
  wireTools.set(key, listed);
  return listed;
};
