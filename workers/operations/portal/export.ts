// What leaves the portal as a file is entered in the audit chain, with who took it, before the first byte of it is sent.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { commitAct } from "./commit-act.ts";

export interface Exported {
  readonly list: "certificates" | "certificate_days" | "duty_months";
  readonly environment: Environment;
  readonly rows: number;
}

export const enterExport = (services: Runtime & Stores & Schedules, member: MemberSession, exported: Exported): Promise<void> =>
  commitAct(
    services,
    member,
    [],
    { type: "list.exported", entityType: "business", entityId: member.business.id, payload: { ...exported } },
    { at: services.clock() },
  );
