// What a view of a certificate needs to know of this deployment and of the moment.
import type { ViewContext } from "../../../core/certificates/views.ts";
import type { Platform } from "../../services.ts";

export const viewContext = ({ config, clock }: Platform): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});
