// Where a model is asked (Workers AI), as far as we do.
export interface TextModelRunner {
  readonly run: (model: string, input: object) => Promise<unknown>;
}
