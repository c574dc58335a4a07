/** The parts from which plugins build their pages (`#plugin/ui`), the same ones as in the rest of the dashboard. */

export { currencyStyle } from "../domain/currency-style.ts"
export type { Dimension } from "../domain/dimension.ts"
export type { OwnGoalResponse } from "../domain/goal.ts"
export type { FunnelInsight, RealtimePanel } from "../domain/insight.ts"
export type { Money } from "../domain/money.ts"
export type { Breakdown, GoalReport, ReportFacts, Summary, Timeseries } from "../domain/report.ts"
export type { PrivatePage } from "../domain/response.ts"
export {
  type AddressFilter,
  comparisonArguments,
  DEFAULT_ADDRESS,
  rangeArguments,
  type SiteAddress,
} from "../domain/site-address.ts"
export { shellQuoted } from "../domain/text.ts"
export type { WebVitals } from "../domain/web-vitals.ts"
export { get, getAll, Problem, patch, post, put, remove, send } from "./api/api.ts"
export { postLines } from "./api/lines.ts"
export {
  areaQueries,
  confirmIdentity,
  type Filters,
  queryOf,
  type RowsOptions,
  useFilters,
  useRows,
} from "./api/plugin-requests.ts"
export { canInOrganization, canOnSite, useMe, useRefreshMe, useSite } from "./api/session.ts"
export { type EditorFields, EditorFrame } from "./area/editor-frame.tsx"
export { DimensionCard, ItemPage, ItemReports, useItemReports } from "./area/item-page.tsx"
export { ActionMenu, type AreaItems, Badges, type EditorProps, itemsPath, useUndoable } from "./area/items.tsx"
export { countColumn, ItemName, type ListFilter, ListPage } from "./area/list-page.tsx"
export { ChartTable, Drawing, FilterEditor, FunnelBars, MinuteChart, ShareList, WorldMap } from "./area/report-parts.ts"
export type { OwnFields } from "./area/shares/share-form.tsx"
export { type WidgetPanelProps, widgetPanel } from "./area/widget-panels.ts"
export { AddressPlaceContext, isFiltered, NO_FILTERS, useSiteAddress, useSiteId } from "./browser/address.ts"
export { saveFile } from "./browser/files.ts"
export { useDebouncedValue } from "./browser/hooks.ts"
export { Button, ButtonLink, IconButton } from "./parts/button.tsx"
export { Change } from "./parts/change.tsx"
export { Confirm, currentVersion, VersionConflict } from "./parts/confirm.tsx"
export { CopyButton, copyText, OneTimeSecret } from "./parts/copy.tsx"
export { type Column, DataTable, PagedTable } from "./parts/data-table.tsx"
export { Dialog } from "./parts/dialog.tsx"
export { Checkbox, Field, FilterRow, SearchField, SelectField, TextArea, TextField } from "./parts/form/fields.tsx"
export { Form, type Sent } from "./parts/form/form.tsx"
export { UnsavedGuard, useUnsaved } from "./parts/form/unsaved.tsx"
export { Icon, Mark } from "./parts/icon.tsx"
export { inTurn, lazyPart } from "./parts/loading.ts"
export { MenuItem, Popover } from "./parts/menu.tsx"
export { SecondLine, SortField } from "./parts/narrow-table.tsx"
export { Card, Page } from "./parts/page.tsx"
export { SECTION_ICONS } from "./parts/section-icons.ts"
export { EmptyState, ErrorState, errorText, NotFound, QueryResult, Skeleton, SystemPage } from "./parts/states.tsx"
export { toast } from "./parts/toasts.tsx"
export { agoText, DescriptionList, Sparkline, TimeAgo } from "./parts/values.tsx"
export { CardResult } from "./report/cards/card-answer.tsx"
export { RankedList, type RankedRow } from "./report/cards/ranked-list.tsx"
export { furtherSeries } from "./report/chart/further-series.ts"
export { CountRows } from "./report/count-rows.tsx"
export { CountChart, type CountSeries, useRangeQuery } from "./report/counts.tsx"
export { filtersAfter, isRowChosen, pageAddress } from "./report/data/card-tabs.ts"
export { figureOf, valueText } from "./report/data/figures.ts"
export { addDays, addMonths, COMPARISON_LABELS, lengthOf, PERIOD_LABELS, periodLabel, rangeOf, todayIn } from "./report/data/ranges.ts"
export { type StatsSource, StatsSourceContext, useStatsSource } from "./report/data/reports.ts"
export { ratingOf, WEB_VITAL_NAMES, WEB_VITALS, webVitalText } from "./report/data/web-vitals.ts"
export { DROP_REASON_LABELS } from "./report/drop-reasons.ts"
export { FilterBar, IgnoredAddressParts } from "./report/filters/filter-bar.tsx"
export { addressFilters, filterText, useSegments } from "./report/filters/filters.ts"
export { ImportMark, VISITOR_WINDOWS } from "./report/trust.tsx"
export { actionText, changesOf } from "./screens/organization/audit/audit-entries.ts"
export { isEmbedded, SHARE_PARAMETERS } from "./screens/share/embedding.ts"
export { NoShare, OpenShare, ShareFrame } from "./screens/share/share-page.tsx"
export type { PluginPages, SectionPage, SitePage } from "./shell/plugin-pages.ts"
export { RangeTools } from "./shell/range-tools.tsx"
export { bytesText } from "./text/bytes.ts"
export * from "./text/format.ts"
export { dimensionLabel } from "./text/labels.ts"
export { TruncatedText, visible, webAddress } from "./text/safe-text.tsx"
