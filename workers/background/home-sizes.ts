// How full each home is: a database ends at 10 GB and then takes no certificate any more, so the log says it long before.
import { homeBytes, maxHomeBytes } from "../../storage/health.ts";
import { kindOfError } from "../log.ts";
import type { Runtime, Stores } from "../services.ts";

const warnedFrom = 0.8; // at 200 MB a client and day the last fifth is ten full days of one client

export const measureHomes = async (platform: Runtime & Stores): Promise<void> => {
  for (const [home, db] of platform.homes.all()) {
    try {
      const bytes = await homeBytes(db);
      platform.log.metric({ metric: "home_bytes", home, value: bytes });
      if (bytes >= warnedFrom * maxHomeBytes) platform.log.fault({ at: "home_filling", error: `home ${home} holds ${bytes} bytes` });
    } catch (error) {
      platform.log.fault({ at: "home-sizes", error: kindOfError(error) });
    }
  }
};
