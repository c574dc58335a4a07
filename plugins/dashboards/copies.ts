/** Copies of dashboards on other sites, and documents that carry dashboards to other instances. */
import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, fault, isObject, missingPermission, type OwnStatements, type Site } from "#plugin"
import type { BoardFields, BoardFilter, DashboardsHost, NewWidget, WholeBoard } from "./board.ts"
import { type Author, type BoardWrites, readableSite } from "./board-writes.ts"
import type { Boards } from "./boards.ts"
import { BoardInput, completeFields, DuplicateInput, readBody, readFilters, readWhole, type SentWidget, WidgetInput } from "./input.ts"
import { type Today, todayOf } from "./ranges.ts"
import { isMissingName, type Lookup, lookupOn, type Mapped, mapReferences, referencesIn, withIds, withNames } from "./references.ts"
import type { DuplicateResponse, ImportResponse } from "./responses.ts"
import { configFaults, overlapFaults, refuseFound } from "./widget-checks.ts"

const FORMAT = "footfall-dashboard"

const NAME = t.Object({ name: t.String({ description: "Name of the object. Empty if it was deleted." }) }, { additionalProperties: false })
const { id: _, source_site_id: __, ...PLACE } = WidgetInput.properties
const { name, description, range, filters, refresh_s } = BoardInput.properties
export const BoardDocument = t.Object(
  {
    format: t.Literal(FORMAT, { description: "Format of the document." }),
    version: t.Literal(1, { description: "Version of the format." }),
    name,
    description,
    range,
    filters,
    refresh_s,
    widgets: t.Array(
      t.Object({ ...PLACE, source_site: t.Optional(t.Object(NAME.properties, { description: "Another site whose figures are shown." })) }),
      { description: "Widgets. Objects that they name are `{name}` instead of an id." },
    ),
  },
  { title: "DashboardDocument" },
)
export type BoardDocument = Static<typeof BoardDocument>

type Stored = { fields: BoardFields; widgets: NewWidget[] }
type Unmapped = DuplicateResponse["results"][number]["unmapped"]

/** Returns the result for a site that gets no copy. Throws errors that are no refusals. */
function refusalFor(siteId: number, error: unknown) {
  if (!(error instanceof AppError)) throw error
  return { site_id: siteId, unmapped: [], error: { code: error.code, detail: error.message } }
}
export type Copies = ReturnType<typeof createCopies>

export function createCopies(host: DashboardsHost, { boards, writes }: { boards: Boards; writes: BoardWrites }) {
  const { db, now } = host
  const lookup = (site: Site, { user }: Pick<Author, "user">): Lookup => lookupOn(host, site, user.id)

  /** Maps a dashboard to another site by the names of what it refers to. Widgets of other sites keep theirs. */
  async function mapped(board: WholeBoard, from: Site, to: Site, author: Author): Promise<Stored & { unmapped: Unmapped }> {
    const [own, target] = [lookup(from, author), lookup(to, author)]
    const unmapped: Unmapped = []
    const move = async <Value extends WholeBoard["filters"] | NewWidget["config"]>(value: Value, widget: number | null): Promise<Value> => {
      const moved = await withIds(await withNames(value, own), target)
      for (const { kind, name, found } of moved.mapped) if (!found) unmapped.push({ widget, kind, name })
      return moved.value
    }
    const filters = await move(board.filters, null)
    const widgets: NewWidget[] = []
    for (const [i, widget] of board.widgets.entries()) {
      const isElsewhere = widget.source_site_id !== null || widget.source_site_name !== null
      widgets.push({ ...widget, config: isElsewhere ? widget.config : await move(widget.config, i) })
    }
    return { fields: { ...board, filters }, widgets, unmapped }
  }

  /** Returns the copy for one site, or why it is not possible. */
  async function copyFor(board: WholeBoard, from: Site, siteId: number, name: string | undefined, author: Author) {
    try {
      const access = await accessOn(host, author, siteId)
      if (!access.permissions.has("dashboards:read")) throw missingPermission("dashboards:read")
      const to = access.site
      const { fields, widgets, unmapped } =
        to.id === from.id ? { fields: board, widgets: board.widgets, unmapped: [] } : await mapped(board, from, to, author)
      return { to, fields: { ...fields, name: name ?? fields.name, visibility: "private" as const }, widgets, unmapped }
    } catch (error) {
      return refusalFor(siteId, error)
    }
  }

  async function storeCopy(
    statements: OwnStatements,
    { to, unmapped, ...copy }: Stored & { to: Site; unmapped: Unmapped },
    author: Author,
  ) {
    try {
      return { site_id: to.id, dashboard: boards.showNew(await writes.insert(statements, to, copy, author), author), unmapped }
    } catch (error) {
      // A full site is refused before anything is written, so the other copies of the transaction are not affected.
      return refusalFor(to.id, error)
    }
  }

  /** Returns the name of the site that a widget shows; empty if it is not known to the reader. */
  async function sourceName({ source_site_id, source_site_name }: NewWidget, author: Author): Promise<string | undefined> {
    if (source_site_name !== null) return source_site_name
    return source_site_id === null ? undefined : ((await readableSite(host, author, source_site_id))?.name ?? "")
  }

  return {
    /** Copies a dashboard to sites. All copies are stored at once, so that a repeated request finds all of them or none. */
    async duplicate(
      site: Site,
      id: string | undefined,
      body: unknown,
      author: Author,
      alongside: (statements: OwnStatements, copied: DuplicateResponse) => Promise<void>,
    ): Promise<DuplicateResponse> {
      const { name, target_site_ids = [site.id] } = readWhole(DuplicateInput, body)
      const board = await boards.whole(db, await boards.find(db, site, id, author), site)
      const copies: Awaited<ReturnType<typeof copyFor>>[] = []
      for (const target of target_site_ids) copies.push(await copyFor(board, site, target, name, author))
      return db.transaction(async (statements) => {
        const results: DuplicateResponse["results"] = []
        for (const copy of copies) results.push("error" in copy ? copy : await storeCopy(statements, copy, author))
        await alongside(statements, { results })
        return { results }
      })
    },

    async export(site: Site, id: string | undefined, author: Author): Promise<BoardDocument> {
      const board = await boards.whole(db, await boards.find(db, site, id, author), site)
      const own = lookup(site, author)
      const widgets: BoardDocument["widgets"] = []
      for (const widget of board.widgets) {
        const { type, title, x, y, w, h, config } = widget
        const source = widget.source_site_id === null ? site : await readableSite(host, author, widget.source_site_id)
        const name = await sourceName(widget, author)
        const names = source === site ? own : source && lookup(source, author)
        widgets.push({
          ...{ type, title, x, y, w, h },
          ...(name !== undefined && { source_site: { name } }),
          config: names ? await withNames(config, names) : nameless(config),
        })
      }
      const filters = await withNames(board.filters, own)
      const { name, description, range, refresh_s } = board
      return { format: FORMAT, version: 1, ...{ name, description, range, filters, refresh_s, widgets } }
    },

    /** Creates a private dashboard from a document. */
    async import(
      site: Site,
      body: unknown,
      author: Author,
      alongside: (statements: OwnStatements, imported: ImportResponse) => Promise<void>,
    ): Promise<ImportResponse> {
      const document = readDocument(body, todayOf(site, now()), host)
      const own = lookup(site, author)
      const mapping: ImportResponse["mapping"] = []
      const note = (widget: number | null, found: readonly Mapped[]) => {
        for (const { kind, name, found: isFound } of found) mapping.push({ widget, reference: { kind, name }, found: isFound })
      }
      const filters = await withIds(document.fields.filters, own)
      note(null, filters.mapped)
      const sites = document.widgets.some(({ source }) => source !== undefined) ? await sitesNamed(host, author) : new Map<string, Site>()
      const widgets: NewWidget[] = []
      for (const [i, { source: name, ...widget }] of document.widgets.entries()) {
        const source = name === undefined ? site : sites.get(name)
        if (name !== undefined) note(i, [{ kind: "site", name, found: source !== undefined }])
        const { value: config, mapped } = source
          ? await withIds(widget.config, source === site ? own : lookup(source, author))
          : { value: widget.config, mapped: namesIn(widget.config) }
        note(i, mapped)
        const isElsewhere = name !== undefined
        widgets.push({
          ...widget,
          config,
          source_site_id: isElsewhere && source ? source.id : null,
          source_site_name: isElsewhere && !source ? name : null,
        })
      }
      return db.transaction(async (statements) => {
        const fields = { ...document.fields, filters: filters.value, visibility: "private" as const }
        const dashboard = boards.showNew(await writes.insert(statements, site, { fields, widgets }, author), author)
        const imported = { dashboard, mapping }
        await alongside(statements, imported)
        return imported
      })
    },
  }
}

const accessOn = (host: DashboardsHost, author: Author, id: number) => host.services.access.onSite(author, String(id))

/** Replaces the ids of a site that the reader does not see by empty names. */
const nameless = (config: NewWidget["config"]): NewWidget["config"] =>
  mapReferences(config, ({ value }) => (typeof value === "number" ? { name: "" } : value))

/** Returns the names in the configuration of a widget whose site was not found. */
function namesIn(config: NewWidget["config"]): Mapped[] {
  const found: Mapped[] = []
  mapReferences(config, ({ kind, value }) => {
    if (isMissingName(value)) found.push({ kind, name: value.name, found: false })
    return value
  })
  return found
}

/** Returns the sites that someone sees by name; of several the one with the lowest id. */
async function sitesNamed(host: DashboardsHost, author: Author): Promise<Map<string, Site>> {
  const { sites } = await host.services.access.all(author)
  return new Map(sites.toReversed().map(({ site }) => [site.name, site]))
}

interface ReadDocument {
  fields: BoardFields
  widgets: (Omit<SentWidget, "source_site_id" | "id"> & { source: string | undefined })[]
}

/** Reads a document. Unknown types are accepted; ids are not, because they mean nothing on another instance. */
function readDocument(body: unknown, today: Today, host: DashboardsHost): ReadDocument {
  const faults: Fault[] = []
  const given = isObject(body) ? body : {}
  if (!isObject(body)) faults.push(fault("", "invalid_type", "must be an object"))
  for (const [name, wanted] of [
    ["format", FORMAT],
    ["version", 1],
  ] as const)
    if (given[name] !== wanted)
      faults.push(fault(`/${name}`, given[name] === undefined ? "required" : "invalid_choice", `must be ${wanted}`, [wanted]))
  const sources = new Map<number, string>()
  const list = Array.isArray(given.widgets) ? given.widgets : []
  for (const [i, widget] of list.entries()) {
    const source = isObject(widget) ? widget.source_site : undefined
    if (source === undefined) continue
    if (isMissingName(source)) sources.set(i, source.name)
    else faults.push(fault(`/widgets/${i}/source_site`, "invalid_type", "must be an object with a name"))
  }
  const named = readNamedFilters(given.filters, "/filters", faults)
  const { format: _, version: __, filters: ___, ...rest } = given
  const plain = {
    ...rest,
    ...(given.widgets !== undefined && {
      widgets: Array.isArray(given.widgets)
        ? list.map((widget) => (isObject(widget) ? without(widget, "source_site") : widget))
        : given.widgets,
    }),
  }
  const read = collecting(faults, () => readBody(DocumentBody, plain, today))
  const widgets = read?.widgets ?? []
  faults.push(...numberFaults(named, "/filters"), ...widgets.flatMap(({ config }, i) => numberFaults(config, `/widgets/${i}/config`)))
  const types = host.widgets()
  const found = { layout_overlap: overlapFaults(widgets), invalid_widget_config: [] as Fault[] }
  for (const [i, widget] of widgets.entries()) {
    const known = types.find(({ type }) => type === widget.type)
    if (known) found.invalid_widget_config.push(...configFaults(known, widget.config, `/widgets/${i}/config`, today, { allowsNames: true }))
  }
  refuseFound({ ...found, unknown_widget_type: [], broken_reference: [], other: faults })
  const fields = completeFields({ ...read!.fields, filters: named }) // without faults everything was read
  return { fields, widgets: widgets.map(({ source_site_id: _, id: __, ...widget }, i) => ({ ...widget, source: sources.get(i) })) }
}

const { visibility: ____, template: _____, ...DOCUMENT_FIELDS } = BoardInput.properties
const DocumentBody = t.Object(DOCUMENT_FIELDS, { additionalProperties: false }) as unknown as typeof BoardInput // the same fields without two optional ones

/** Returns the faults of ids, which mean something else on another instance. */
const numberFaults = (value: Parameters<typeof referencesIn>[0], pointer: string): Fault[] =>
  referencesIn(value).flatMap(({ value: named, pointer: at }) =>
    typeof named === "number" ? [fault(pointer + at, "invalid_type", "must be an object with a name")] : [],
  )

/** Reads filters that name objects. */
function readNamedFilters(value: unknown, pointer: string, faults: Fault[]): BoardFilter[] {
  if (value === undefined) return []
  readFilters(
    mapReferences(value, ({ value: named }) => (isMissingName(named) ? 1 : named)),
    pointer,
    faults,
  )
  return Array.isArray(value) ? (value as BoardFilter[]) : [] // checked above
}

const without = (value: Record<string, unknown>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([each]) => each !== name))

/** Runs a reader and adds its faults to others. */
function collecting<Read>(faults: Fault[], read: () => Read): Read | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "validation_failed") throw error
    faults.push(...(error.members.errors ?? []))
    return undefined
  }
}
