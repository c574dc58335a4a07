/** Lists of the console. */
import { type Filters, type RowsOptions, useRows as useAnyRows } from "#plugin/ui"

export const ADMIN = "/api/private/admin"
export { type Filters, queryOf, useFilters } from "#plugin/ui"

/** Rows of a list below `/api/private/admin`, up to where somebody has asked for more. */
export const useRows = <Row>(path: string, filters: Filters = {}, options: RowsOptions<Row> = {}) =>
  useAnyRows<Row>(["admin", path], `${ADMIN}/${path}`, filters, options)
