// How full each home is: a database ends at 10 GB and then takes no certificate any more, so the log says it long before.
import { homeBytes, maxHomeBytes } from "../../storage/health.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";

const warnedFrom = 0.8; // at 200 MB a client and day the last fifth is ten full days of one client

export const measureHomes = (platform: Platform): Promise<void> =>
  inEachHome(platform, "home-sizes", async (db, home) => {
    const bytes = await homeBytes(db);
    platform.log.metric({ metric: "home_bytes", home, value: bytes });
    if (bytes >= warnedFrom * maxHomeBytes) platform.log.fault({ at: "home_filling", error: `home ${home} holds ${bytes} bytes` });
  });
