// Each minute: mails to those whose assistant's connection ends within a week, in every home.
import { writeEndNotices } from "../operations/agents/end-notices.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

export const tellConnectionEnds = (platform: Platform): Promise<void> =>
  inEachHome(platform, "connection ends", (db) => writeEndNotices(platform, db));
