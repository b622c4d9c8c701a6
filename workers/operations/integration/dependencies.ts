// Dependencies of the operations in this folder.
import type { FormPage } from "../../../core/forms/form-page.ts";
import type { Proposal, ProposalRequest } from "../../../core/integration/proposal.ts";
import type { PageFetcher, ReadDependencies } from "../dependencies.ts";

/** Reading the forms of a business's page. */
export interface FormReader {
  readonly parseFormPage: (html: string) => FormPage;
  /** What a model would add to a mapping. Null if no model is bound, or it did not answer in time or in shape. Never throws. */
  readonly proposeMapping: (request: ProposalRequest) => Promise<Proposal | null>;
}

export interface IntegrationDependencies extends ReadDependencies, FormReader, PageFetcher {}
