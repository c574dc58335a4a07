/**
 * What plugins use in threads of their own. It loads nothing but these modules: all of `#plugin` would take memory in each thread, and time in
 * each collection of its garbage.
 */
export { CsvParser, exceeds, lineEndOf, MAX_LINE_BYTES } from "../domain/csv.ts"
export { currencyDecimals, parseCurrency } from "../domain/currency.ts"
export { isAddress, parseHost } from "../domain/host.ts"
export { dayNumber, dayText, IMPORTED_KINDS, IMPORTED_TABLES, WHOLE_DAY } from "../domain/imported.ts"
export { instantText } from "../domain/moment.ts"
export { parseAmount } from "../domain/money.ts"
export { PAYMENT_RECEIVED, readPayment } from "../domain/payment.ts"
export { countryName } from "../domain/place-names.ts"
export { isObject } from "../domain/shape.ts"
export { normalizeUnicode } from "../domain/text.ts"
export { TRAITS, VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS } from "../domain/visit.ts"
export { memoize } from "../ingest/memoize.ts"
export { unmapProgramPages } from "../services/runtime/start-memory.ts"
export { VisitBatch, VisitPacker } from "../store/events/import-batch.ts"
export { type BuiltBatch, buildBatch, type NumberedBatch } from "../store/events/import-segments.ts"
export { SEGMENT_EVENTS } from "../store/events/upkeep/build.ts"
export { raw, sql } from "../store/sql.ts"
export { createEnrichment, languageOf, openPlaces, sizeClass } from "./enrichment.ts"
