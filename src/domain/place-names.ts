const REGIONS = new Intl.DisplayNames("en", { type: "region", fallback: "none" })

/** Returns the English name of a country by its ISO code, or undefined. */
export const countryName = (code: string): string | undefined => (/^[A-Z]{2}$/.test(code) ? REGIONS.of(code) : undefined)

/** Returns the English name of a country, or its code when it has no name. */
export const countryNameOrCode = (code: string): string => countryName(code) ?? code

/** English names by code of a dimension. A code without a name is shown as it is. */
export type CodeNames = ReadonlyMap<string, string>

/** The names of places, which come from the operator's place database. */
export interface PlaceNames {
  region: CodeNames
  city: CodeNames
}
