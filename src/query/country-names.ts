const REGIONS = new Intl.DisplayNames("en", { type: "region", fallback: "none" })

/** The English name of a country by its ISO code; undefined where there is none. */
export const countryName = (code: string): string | undefined => (/^[A-Z]{2}$/.test(code) ? REGIONS.of(code) : undefined)

/** The same for those who need a text: a code without a name stands for itself. */
export const countryNameOrCode = (code: string): string => countryName(code) ?? code
