/** English names by the codes of a dimension. A code that is not there stands for itself. */
export type CodeNames = ReadonlyMap<string, string>

/** Of the dimensions whose codes only the operator's file of places can name. */
export interface PlaceNames {
  region: CodeNames
  city: CodeNames
}
