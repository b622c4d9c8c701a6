// Storage that could not be asked, where an operation says so as a refusal: the whole request is answered -32000.
import { isOutage } from "../http/faults.ts";

export class StorageAway extends Error {
  constructor() {
    super("storage could not be asked");
    this.name = "StorageAway";
  }
}

export const isAway = (error: unknown): boolean => error instanceof StorageAway || isOutage(error);
