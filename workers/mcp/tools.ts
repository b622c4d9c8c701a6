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

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly title: string } & Tool["hints"];
}

/** As protocol 2025-03-26 knows it. */
export const definitionOf = ({ name, title, descriptions, hints, takes }: Tool, realm: Realm): Definition => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(takes, { io: "input" });
  return { name, description: descriptions[realm], inputSchema, annotations: { title, ...hints } };
};

/** As revision 2026-07-28 knows it. A member that comes later must break no client, so none is ruled out. */
export const modernDefinitionOf = (of: Tool, realm: Realm): Definition & { readonly title: string; readonly outputSchema: object } => {
  const { $schema: _, ...outputSchema } = z.toJSONSchema(of.gives, { io: "input" });
  return { ...definitionOf(of, realm), title: of.title, outputSchema };
};
