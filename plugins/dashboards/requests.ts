/** Requests for the data of a dashboard. Public links read them with the same functions. */
import { AppError, type Fault, fault, isObject, refuseFaults, type Site } from "#plugin"
import type { DashboardsHost, WholeBoard } from "./board.ts"
import type { DataRequest } from "./data/viewer.ts"
import { readFilters } from "./input.ts"
import { readCompare, readRange, refuseUnknown, todayOf } from "./ranges.ts"
import { lookupOn, referenceFaults } from "./references.ts"

const FIELDS = ["range", "filters", "compare", "widgets"]

/** Reads a body. Throws `validation_failed` with all faults. Without a user, personal segments don't exist. */
export async function readDataRequest(
  { host }: { host: DashboardsHost },
  site: Site,
  { widgets }: Pick<WholeBoard, "widgets">,
  body: unknown,
  userId: number | undefined,
): Promise<DataRequest> {
  const { request, faults } = await read(host, site, body, userId)
  const { widgets: ids } = isObject(body) ? body : {}
  if (ids !== undefined) faults.push(...idFaults(ids, widgets))
  refuseFaults(faults)
  return { ...request, ...(ids !== undefined && { widgets: ids as number[] }) } // checked above
}

/** Reads a query string, whose values are JSON. Throws `invalid_query` with all faults. */
export async function readDataQuery(
  { host }: { host: DashboardsHost },
  site: Site,
  query: Readonly<Record<string, unknown>>,
  userId: number | undefined,
): Promise<DataRequest> {
  const { widgets: _, ...known } = Object.fromEntries(Object.entries(query).map(([name, value]) => [name, parsed(value)]))
  const { request, faults } = await read(host, site, known, userId)
  if (query.widgets !== undefined) faults.push(fault("/widgets", "unknown_field", "is not a known parameter"))
  if (faults.length > 0) throw new AppError("invalid_query", "The query is not valid.", { errors: faults.slice(0, 20) })
  return request
}

/** Returns the value of a parameter. Text that is no JSON stays, such as `previous_period`. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

async function read(host: DashboardsHost, site: Site, body: unknown, userId: number | undefined) {
  const faults: Fault[] = []
  if (!isObject(body)) return { request: {}, faults: [fault("", "invalid_type", "must be an object")] }
  refuseUnknown(body, FIELDS, "", faults)
  const today = todayOf(site, host.now())
  const request: DataRequest = {
    ...(body.range !== undefined && { range: readRange(body.range, "/range", today, faults) }),
    ...(body.compare !== undefined && { compare: readCompare(body.compare, "/compare", today, faults) }),
    ...(body.filters !== undefined && { filters: readFilters(body.filters, "/filters", faults) }),
  }
  const { broken } = await referenceFaults(request.filters ?? [], "/filters", lookupOn(host, site, userId), { allowsPersonal: true })
  faults.push(...broken.map((one) => ({ ...one, code: "invalid_choice", allowed: [] })))
  return { request, faults }
}

function idFaults(ids: unknown, widgets: WholeBoard["widgets"]): Fault[] {
  if (!Array.isArray(ids)) return [fault("/widgets", "invalid_type", "must be a list")]
  if (ids.length > MAX_IDS) return [fault("/widgets", "too_many", `must have at most ${MAX_IDS} items`)]
  return ids.flatMap((id, i) =>
    widgets.some((widget) => widget.id === id) ? [] : [fault(`/widgets/${i}`, "invalid_choice", "is not a widget of the dashboard")],
  )
}

/** More than a dashboard has. */
const MAX_IDS = 100
