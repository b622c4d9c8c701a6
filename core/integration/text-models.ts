// Where a model is asked (Workers AI), as far as we do.
export interface TextModels {
  readonly run: (model: string, input: object) => Promise<unknown>;
}
