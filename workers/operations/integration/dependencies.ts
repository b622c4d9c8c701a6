// Dependencies of the operations in this folder.
import type { FormPage } from "../../../core/forms/form-page.ts";
import type { Proposal, ProposalRequest } from "../../../core/integration/proposal.ts";
import type { PageFetcher, ReadDependencies } from "../dependencies.ts";

/** Reads the forms on a business's page. */
export interface FormReader {
  readonly parseFormPage: (html: string) => FormPage;
  /**
   * Returns the model's additions to a mapping. Returns null if there is no model, or if it did not return a valid proposal in time. Never
   * throws.
   */
  readonly proposeMapping: (request: ProposalRequest) => Promise<Proposal | null>;
}

export interface IntegrationDependencies extends ReadDependencies, FormReader, PageFetcher {}
