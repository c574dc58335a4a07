/** Everything that plugins may import from the core. */

export { refuseWithoutRecentProof } from "../domain/account.ts"
export { formatScopedAnnotation, ScopedAnnotationResponse } from "../domain/annotation.ts"
export type { Actor, AuditEntry } from "../domain/audit.ts"
export { AuditRowResponse, changesBetween, formatAuditRow } from "../domain/audit.ts"
export type { Connection, ConnectionStatus } from "../domain/connection.ts"
export { CsvParser, type CsvRecord, exceeds, type LineEnd, lineEndOf, MAX_LINE_BYTES } from "../domain/csv.ts"
export { currencyDecimals, parseCurrency } from "../domain/currency.ts"
export { currencyStyle } from "../domain/currency-style.ts"
export { type Dimension, dimensionFacts, FLAT_DIMENSIONS } from "../domain/dimension.ts"
export { divideHalfAway, divideHalfEven, type Fraction, shareOf } from "../domain/division.ts"
export { AppError, type ErrorCode, type Fault, refuseFaults, siteNotFound } from "../domain/error.ts"
export { type Condition, type Filter, textTest } from "../domain/filter.ts"
export { isAddress, parseHost } from "../domain/host.ts"
export { parseId } from "../domain/id.ts"
export { hasLongKeys, PeopleIdentity, ROTATING_DAYS } from "../domain/identity.ts"
export {
  dayNumber,
  dayText,
  IMPORTED_KINDS,
  IMPORTED_TABLES,
  type ImportedKind,
  type ImportedRow,
  isVisible,
  type VisibleImport,
  WHOLE_DAY,
} from "../domain/imported.ts"
export { ComparedBreakdown, FunnelInsight, RealtimePanel } from "../domain/insight.ts"
export type { Job, JobProgress, JobState } from "../domain/job.ts"
export { KEY_STATES, keyState } from "../domain/key.ts"
export type { Log } from "../domain/log.ts"
export { missingPermission } from "../domain/membership.ts"
export { FLAT_METRICS, type FlatMetric, roundedRatio } from "../domain/metric.ts"
export { instantOrNull, instantText, parseDay, parseInstant } from "../domain/moment.ts"
export { type AmountFault, decimalText, formatMoney, MAX_AMOUNT_MINOR, Money, parseAmount } from "../domain/money.ts"
export {
  type KeptRows,
  type PackedColumns,
  type PackedValue,
  packedObjects,
  packRows,
  type RowColumns,
  repackRows,
  unpackRows,
} from "../domain/packed-rows.ts"
export {
  PAYMENT_PROVIDERS,
  PAYMENT_RECEIVED,
  type Payment,
  PaymentReceived,
  readPayment,
  SaleItem,
  TRANSACTION_TYPES,
  type TransactionType,
} from "../domain/payment.ts"
export type {
  Coverage,
  EngagementQuery,
  PeopleCondition,
  PeopleGroup,
  PeopleScope,
  PeopleSet,
  PeopleTest,
  PeopleWindow,
  PersonFacts,
  RetentionQuery,
} from "../domain/people.ts"
export { PERIODS } from "../domain/period.ts"
export { isRevenueOpen, revenueProperties } from "../domain/permission.ts"
export { countryName } from "../domain/place-names.ts"
export type { ProductEventForm } from "../domain/product-event.ts"
export { ProviderTest } from "../domain/provider-input.ts"
export type { Interval, Key, Query, Range, RowsQuery, Signal, SiteFacts, Table, TallyGroup } from "../domain/query.ts"
export { GoalReport, ReportImports, ReportRange, Summary, Timeseries } from "../domain/report.ts"
export { anyOf, CREATED_AT, field, Instant, Listed as Paged, orNull, type PrivatePage, textOf, UPDATED_AT } from "../domain/response.ts"
export {
  averageRates,
  CELL_STATES,
  type CellRules,
  type CellState,
  cellStates,
  cellWindow,
  type RetentionAverage,
  returnRate,
  type StatedRow,
} from "../domain/retention-report.ts"
export {
  type LinkClick,
  SALE_DIMENSIONS,
  type SaleDimensions,
  type SaleEvent,
  type SaleTrust,
  type SaleVisit,
  TOUCH_DIMENSIONS,
  type Touch,
} from "../domain/sale.ts"
export type { SavedFilter } from "../domain/segment.ts"
export { fault, inspect, isObject, mergedWith } from "../domain/shape.ts"
export {
  DEFAULT_TERMS,
  formatShare,
  type NewShare,
  SHARE_INPUT,
  SHARE_RESPONSE,
  type ShareState,
  type ShareTerms,
  type StoredShare,
  shareNotFound,
} from "../domain/share.ts"
export type { Site } from "../domain/site.ts"
export { caseKey, isClean, normalizeUnicode } from "../domain/text.ts"
export { isEmail } from "../domain/user.ts"
export { bodyVersion, etagOf, refuseOtherVersion, refuseStaleBody, type Versioned, versionsIn } from "../domain/version.ts"
export { TRAITS, VISIT_EVENTS, VISIT_IDLE_MS, VISIT_LENGTH_MS, type VisitorKind, type VisitTraits } from "../domain/visit.ts"
export { VITALS, WebVitals } from "../domain/web-vitals.ts"
export type { SenderFacts } from "../ingest/collect/records.ts"
export { memoize } from "../ingest/memoize.ts"
export type { AreaStep, PassingEvent } from "../ingest/pipeline/areas.ts"
export type { AmountGroup, AmountsResult, Conversion, RowCondition } from "../query/amounts/amounts.ts"
export type { Engine } from "../query/engine/engine.ts"
export { ArgumentReader, refuseArguments, refuseChoice, refuseNames } from "../query/parse/arguments.ts"
export type { SavedFilters } from "../query/parse/array-filters.ts"
export { bucketsOf, flatLabel, isPartial } from "../query/parse/buckets.ts"
export { readFilterList } from "../query/parse/flat-filters.ts"
export { clippedDays, dayStart, daysRange, type LocalRange, localDay, periodRange, readInterval } from "../query/parse/period.ts"
export { csvLine } from "../query/rows/export-text.ts"
export { shownValue } from "../query/show/result.ts"
export type { SumsGroup, SumsOrder, SumsPlace, SumsResult } from "../query/sums/sums.ts"
export type { MemberLeave, SiteTransfer } from "../services/access/handover.ts"
export { ConnectionFailure, type ConnectionFault } from "../services/connections/failure.ts"
export { pageOf, parseListing } from "../services/definitions/listing.ts"
export type { ErasedVisit, ErasedVisits, Removed } from "../services/erasure/data-hooks.ts"
export type { Console } from "../services/instance/console.ts"
export type { CommandForm } from "../services/instance/plugin-commands.ts"
export type { JobWork } from "../services/jobs/jobs.ts"
export {
  cursorOf,
  pageOfAll,
  privatePage,
  readPaging,
  readPlace,
  readPlainPaging,
  readSortedPaging,
  sortedPage,
} from "../services/lists/paging.ts"
export type { EmailHeader, EmailMessage, EmailOutcome } from "../services/mail/mail.ts"
export { type FailureCode, failureCode } from "../services/outbound/failure.ts"
export { excerptOf, type OutboundAnswer, type OutboundRequest } from "../services/outbound/outbound.ts"
export type { CountedPeople, PeopleRequest } from "../services/people/identity.ts"
export type { People } from "../services/people/people.ts"
export {
  filtersSeenBy,
  namesProperty,
  parseNaming,
  type SetReader,
  type VisitorSet,
  type VisitorSets,
  withBrokenReference,
} from "../services/people/visitor-sets.ts"
export { createExclusive, type Exclusive, mapConcurrent } from "../services/runtime/tasks.ts"
export type { FoundShare } from "../services/sharing/opening.ts"
export {
  isReservedSlug,
  refuseSlug,
  slugFault,
  slugKey,
  unescaped,
} from "../services/sharing/slugs.ts"
export { shownImports } from "../services/stats/import-facts.ts"
export {
  callerOf,
  codeNames,
  hidesRevenue,
  LATE_EVENTS,
  type OpenReport,
  queryOf,
  type ReportOptions,
  rangeNotes,
  shownRange,
  siteFacts,
  splitArguments,
  visitorFacts,
  withAllFaults,
} from "../services/stats/open-report.ts"
export type { RecordCounts, RecordReportOptions } from "../services/stats/record-reports.ts"
export type { ImportCursor, ImportTarget } from "../store/events/import.ts"
export { type ImportedVisit, VisitBatch, VisitPacker } from "../store/events/import-batch.ts"
export type { EngineMove, MovedNames, RenameRows } from "../store/events/moving/moving.ts"
export type { RowStatements } from "../store/events/tables/row-tables.ts"
export { SEGMENT_EVENTS } from "../store/events/upkeep/build.ts"
export type { Migration } from "../store/migrations.ts"
export { raw, Sql, sql, type Value } from "../store/sql.ts"
export { leaveUnread, readBytes, readJsonAsSent, readNothing, readOptionalJson, type SentJson } from "../web/body.ts"
export type { Created } from "../web/creation.ts"
export {
  type AnyPlugin,
  type CommandCall,
  type Contribution,
  type DemoRequest,
  type DemoSite,
  type DemoTraffic,
  definePlugin,
  type Exporter,
  type NamedThings,
  type Plugin,
  type PluginCommand,
  type PluginEndpoint,
  type PluginPaths,
} from "./contract.ts"
export { examples, failures, operationsOf, webhookMessages } from "./documentation.ts"
export {
  createEnrichment,
  type EnrichedEvent,
  type EnrichmentSite,
  type ForeignEvent,
  languageOf,
  openPlaces,
  sizeClass,
} from "./enrichment.ts"
export { errorsOf, type PluginError } from "./errors.ts"
export { type Counters, movePositions } from "./host/counters.ts"
export type { BatchProgress, PluginBatch, PluginCreation } from "./host/creation.ts"
export type {
  Asked,
  Host,
  HostServices,
  ListedSender,
  PluginAudit,
  PluginConnections,
  PluginConnectTerms,
  PluginMail,
  PluginOutbox,
  PluginRecord,
  PluginSecrets,
  PublishedEvent,
  Throttle,
} from "./host/host.ts"
export type { ImportWriters, VisitsPlace } from "./host/imports.ts"
export type { PluginJob, PluginJobs } from "./host/jobs.ts"
export type { OwnAmountsQuery, OwnRows, OwnSumsQuery } from "./host/own-rows.ts"
export type { OwnStatements, OwnTables } from "./host/own-tables.ts"
export type { PreparedRecord } from "./host/recording.ts"
export type { SaleReader, TouchesOf } from "./host/sales.ts"
export type { PluginShareKind, PluginShares } from "./host/shares.ts"
export type { OwnSlugs, SlugClaim } from "./host/slugs.ts"
export type { OpenThread, PluginWorker, RunInThread } from "./host/threads.ts"
export type { Trash } from "./host/trash.ts"
export type { InstanceRouter, OpenRouter, PublicSiteRouter, SiteRouter } from "./routers.ts"
export { AnyQuery, NoQuery, parameter, queryWith, Sent } from "./shapes.ts"
export { canFilter, canLock, defineWidget, type KnownWidget, type Widget, type WidgetAnswer, type WidgetQuestion } from "./widgets.ts"
