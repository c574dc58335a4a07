/** Everything of the house that a plugin may use. */
export type { Actor, Deed } from "../domain/audit.ts"
export { AuditRowShown, shownAuditRow } from "../domain/audit.ts"
export { AppError, type ErrorCode, type Fault, refuseFaults, siteNotFound } from "../domain/error.ts"
export type { Filter } from "../domain/filter.ts"
export { isAddress, parseHost } from "../domain/host.ts"
export { parseId } from "../domain/id.ts"
export type { Job, JobProgress, JobState } from "../domain/job.ts"
export { KEY_STATES, keyState } from "../domain/key.ts"
export type { Log } from "../domain/log.ts"
export { instantText, parseDay, parseInstant } from "../domain/moment.ts"
export type { Query, RowsQuery, Table, TallyGroup } from "../domain/query.ts"
export { refuseUnproved } from "../domain/session.ts"
export { fault, inspect, isObject, mergedWith } from "../domain/shape.ts"
export type { Site } from "../domain/site.ts"
export { caseKey, composed, isClean } from "../domain/text.ts"
export { etagOf, refuseOtherVersion, refuseStaleBody, type Versioned, versionsIn } from "../domain/version.ts"
export type { SenderFacts } from "../ingest/records.ts"
export type { AreaStep, PassingEvent } from "../ingest/steps/areas.ts"
export { ArgumentReader, refuseArguments, refuseChoice, refuseNames } from "../query/arguments.ts"
export type { Engine } from "../query/engine.ts"
export { csvLine } from "../query/export-text.ts"
export type { Console } from "../services/console/console.ts"
export type { Removed } from "../services/data-hooks.ts"
export type { JobWork } from "../services/job-kinds.ts"
export type { Asking } from "../services/open-report.ts"
export { excerptOf, type OutboundAnswer, type OutboundRequest } from "../services/outbound.ts"
export { type PrivatePage, pageOfAll, privatePage, readPaging, readPlainPaging } from "../services/paging.ts"
export { FOLD_START, type FoldPosition, foldRecords } from "../services/record-folds.ts"
export { siteFacts } from "../services/report-facts.ts"
export {
  isReservedSlug,
  newSlug,
  refuseSlug,
  SLUG_KEPT_MS,
  SUGGESTED_CHARS,
  slugFault,
  slugKey,
  slugSuggestions,
  unescaped,
} from "../services/slugs.ts"
export { sortedPage } from "../services/sorted-page.ts"
export { raw, type Sql, sql, type Value } from "../store/catalog/sql.ts"
export type { ImportedVisit } from "../store/events/import.ts"
export type { RowStatements } from "../store/events/row-tables.ts"
export type { Migration } from "../store/migrations.ts"
export { leaveUnread, readBytes, readJsonAsSent, readOptionalJson, type SentJson } from "./body.ts"
export {
  type AnyPlugin,
  type Contribution,
  definePlugin,
  type Exporter,
  type Plugin,
  type PluginDoor,
  type PluginPaths,
} from "./contract.ts"
export type { Asked, Host, HostServices, ListedSender, PluginAudit, PluginOutbox, PluginRecord, PluginSecrets, Throttle } from "./host.ts"
export type { PluginCreation } from "./host-creation.ts"
export type { ImportTarget, ImportWriters } from "./host-imports.ts"
export type { PluginJob, PluginJobs } from "./host-jobs.ts"
export type { OwnRows } from "./own-rows.ts"
export type { OwnStatements, OwnTables } from "./own-tables.ts"
export type { InstanceRouter, OpenRouter, SiteRouter } from "./routers.ts"
export { AnyQuery, Instant, instantOrNull, NoQuery, orNull, Paged, Sent } from "./shapes.ts"
export { defineWidget, type KnownWidget, type Widget, type WidgetAnswer, type WidgetQuestion } from "./widgets.ts"
