/** The bodies and responses of Plausible's sites API, with the shapes of its documentation. */
import { type TObject, type TSchema, Type as t } from "@sinclair/typebox"
import { QUERY, THINGS } from "../../../domain/limits.ts"

const HOST = t.String({ minLength: 1, maxLength: 253, description: "Host of the site, which identifies it in this API." })
const TIMEZONE = t.String({ maxLength: 64, description: "IANA time zone." })
const SITE_ID = t.String({ minLength: 1, maxLength: 253, description: "Host of the site, or its id." })

const SiteFields = t.Object({ domain: HOST, timezone: TIMEZONE })
export const SiteShape = t.Object({ ...SiteFields.properties }, { title: "PlausibleSite" })
export const WholeSite = t.Object(
  {
    ...SiteFields.properties,
    custom_properties: t.Array(t.String(), {
      description: `Most frequent property keys of the last 30 days, at most ${QUERY.propertyKeys.max}. Empty for a key without stats:read.`,
    }),
  },
  { title: "PlausibleWholeSite" },
)
export const SiteInput = t.Object(
  { domain: HOST, timezone: t.Optional(TIMEZONE), team_id: t.Optional(t.String({ description: "Id of the organization of the key." })) },
  { additionalProperties: false, title: "PlausibleSiteInput" },
)
export const DomainInput = t.Object({ domain: HOST }, { additionalProperties: false, title: "PlausibleSitePatch" })

export const ShareFields = t.Object(
  { name: t.String({ minLength: 1, maxLength: THINGS.nameChars, description: "Name of the shared view." }) },
  { additionalProperties: false, title: "PlausibleSharedLinkInput" },
)
export const ShareShape = t.Object(
  { name: t.String({ description: "Name of the shared view." }), url: t.String({ description: "URL that opens it without signing in." }) },
  { title: "PlausibleSharedLink" },
)

const text = (description: string) => t.Union([t.String(), t.Null()], { description })
const GOAL = {
  id: t.String({ description: "Id of the goal." }),
  goal_type: t.String({ description: "`event`, `page` or `scroll`." }),
  display_name: t.String({ description: "Name of the goal." }),
  event_name: text("Name of the event, with `*` for any characters. null for pages."),
  page_path: text("Path of the page, with `*` for any characters. null for events."),
}
export const GoalShape = t.Object(GOAL, { title: "PlausibleGoal" })
export const OwnGoalShape = t.Object({ domain: HOST, ...GOAL }, { title: "PlausibleSiteGoal" })
export const GoalFields = t.Object(
  {
    goal_type: t.Union([t.Literal("event"), t.Literal("page")], { description: "What counts as a conversion." }),
    event_name: t.Optional(t.String({ description: "Name of the event. Required with `goal_type` event." })),
    page_path: t.Optional(t.String({ description: "Path of the page, with `*` for any characters. Required with `goal_type` page." })),
    display_name: t.Optional(t.String({ description: "Name of the goal. Default: the event name, or `Visit` and the path." })),
  },
  { additionalProperties: false, title: "PlausibleGoalInput" },
)
export const NoFields = t.Object({}, { additionalProperties: false, title: "PlausibleSiteName" })

/** Adds the site to the schema of a form that names it. */
export const ofSite = ({ properties, title }: TObject) =>
  t.Object({ site_id: SITE_ID, ...properties }, { additionalProperties: false, title: title! })

export const Deleted = t.Object({ deleted: t.Literal("true", { description: "Always `true`." }) }, { title: "PlausibleDeleted" })
export const DELETED = { deleted: "true" } as const

export const Team = t.Object(
  {
    id: t.String({ description: "Id of the organization." }),
    name: t.String({ description: "Name of the organization." }),
    api_available: t.Boolean({ description: "Whether its sites can be managed with this API. Always true." }),
  },
  { title: "PlausibleTeam" },
)

const cursor = (description: string) => t.Union([t.String(), t.Null()], { description })
const Meta = t.Object(
  {
    after: cursor("Cursor of the next page. null on the last page."),
    before: cursor("Cursor of the previous page. null on the first page."),
    limit: t.Integer({ description: "Maximum number of items of a page." }),
  },
  { title: "PlausibleMeta", description: "Position of the page." },
)
export const listOf = <Name extends string>(name: Name, item: TSchema) =>
  t.Object({ [name]: t.Array(item, { description: "Items of the page, by id." }), meta: Meta }, { title: `${item.title}List` })
