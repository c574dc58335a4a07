/** The file belongs to another program, or a later version of this one wrote it. Of either store. */
export class StoreRefusal extends Error {
  constructor(
    readonly reason: "foreign" | "newer",
    message: string,
  ) {
    super(message)
    this.name = "StoreRefusal"
  }
}

export const foreignFile = (path: string) => new StoreRefusal("foreign", `${path} belongs to another program`)
