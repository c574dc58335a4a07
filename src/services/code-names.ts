import type { Dimension } from "../domain/dimension.ts"
import type { CodeNames, PlaceNames } from "../domain/place-names.ts"

/** Where names of places come from; without a file of places there are none. */
export interface NamesOptions {
  placeNames?: (() => Promise<PlaceNames>) | undefined
}

/** Names of a dimension's codes, where the program does not know them by itself, as it does those of countries. */
export const codeNames = async ({ placeNames }: NamesOptions, dimension: Dimension | undefined): Promise<CodeNames | undefined> =>
  dimension === "region" || dimension === "city" ? (await placeNames?.())?.[dimension] : undefined
