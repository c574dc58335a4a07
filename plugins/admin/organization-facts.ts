import { Type as t } from "@sinclair/typebox"
import { AppError, type Host, Instant, instantText, parseId } from "#plugin"
import { Id } from "./shapes.ts"

export const OrganizationShown = t.Object(
  {
    id: Id,
    name: t.String(),
    members: t.Integer(),
    owners: t.Integer(),
    sites: t.Integer(),
    keys: t.Integer(),
    events_30d: t.Integer(),
    bytes: t.Integer(),
    created_at: Instant,
    version: t.Integer(),
  },
  { title: "InstanceOrganization" },
)

type Params = Record<string, string | undefined>
type Facts = Awaited<ReturnType<Host["services"]["console"]["lists"]["organizations"]>>[number]
/** One that was just made. */
export type NewOrganization = Pick<Facts, "id" | "name" | "created_at" | "version">

/** The organization that the path names. Throws `organization_not_found`. */
export async function organizationOf({ services }: Host, { id }: Params) {
  const found = await services.organizations.get(parseId(id) ?? 0)
  if (!found) throw new AppError("organization_not_found", "This organization doesn't exist.")
  return found
}

/** For routes whose path names one: it is looked up before anything is read. */
export const findingOrganization = (host: Host) => ({ find: async (params: Params) => void (await organizationOf(host, params)) })

/** With what its sites have taken in. */
export async function shownOrganization({ services }: Host, { created_at, ...facts }: Facts) {
  const own = (await services.sites.list(facts.id)).map(({ id }) => id)
  const figures = [...(await services.console.lists.figures(own)).values()]
  return {
    ...facts,
    events_30d: figures.reduce((sum, { events_30d }) => sum + events_30d, 0),
    bytes: figures.reduce((sum, { bytes }) => sum + bytes, 0),
    created_at: instantText(created_at),
  }
}

/** Of one that was just found. */
export async function shownOrganizationById(host: Host, id: number) {
  return shownOrganization(host, (await host.services.console.lists.organizations()).find((facts) => facts.id === id)!)
}

/** Nobody and nothing belongs to one that was just made. */
export function shownNewOrganization({ id, name, created_at, version }: NewOrganization) {
  const nothing = { members: 0, owners: 0, sites: 0, keys: 0, events_30d: 0, bytes: 0 }
  return { id, name, ...nothing, created_at: instantText(created_at), version }
}
