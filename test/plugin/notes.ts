/** The smallest plugin that uses every part of the plugin system, for its tests. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type AnyPlugin, AppError, type Contribution, definePlugin, inspect, type Plugin, parseId, refuseFaults, sql } from "#plugin"

const Settings = t.Object({
  greeting: t.String({ default: "Hello", maxLength: 20, description: "What an open note begins with." }),
  most: t.Integer({ default: 3, minimum: 1, maximum: 10, description: "Notes of one site." }),
  prefix: t.String({ default: "n", pattern: "^/?[a-z]{1,10}$", "x-key": "note_prefix", description: "Where open notes are." }),
  loud: t.Boolean({ default: false, description: "Whether open notes are in capitals." }),
  colours: t.Array(t.String(), { default: ["red"], description: "Colours of notes." }),
  token: t.Optional(t.String({ "x-secret": true, description: "A secret." })),
})

const NoteInput = t.Object({ text: t.String({ minLength: 1, maxLength: 100 }) }, { additionalProperties: false })
export interface Note {
  id: number
  site_id: number
  text: string
}

export type NotesPlugin = Plugin<typeof Settings>
type NotesHost = Parameters<NotesPlugin["setup"]>[0]

const MIGRATION = {
  name: "0001_notes",
  sql: "create table notes_notes (id integer primary key autoincrement, site_id integer not null, text text not null) strict",
}

/** Returns the plugin with the given changes. */
export const notes = (more: Partial<NotesPlugin> = {}, contribute: (host: NotesHost) => Contribution = () => ({})): AnyPlugin =>
  definePlugin({
    id: "notes",
    title: "Notes",
    paths: { site: ["notes"], instance: ["all-notes"], open: [{ setting: "prefix" }] },
    permissions: { "notes:read": "viewer", "notes:write": "editor" },
    migrations: [MIGRATION],
    settings: Settings,
    setup: (host) => ({ ...routesOf(host), ...contribute(host) }),
    ...more,
  })

function routesOf(host: NotesHost): Contribution {
  const { db, audit, settings } = host
  const site = host
    .siteRouter()
    .get(
      "/notes",
      async ({ site }) => ({ data: await db.all<Note>(sql`select id, site_id, text from notes_notes where site_id = ${site.id}`) }),
      { can: "notes:read", detail: { summary: "List notes" } },
    )
    .post(
      "/notes",
      async ({ site, actor, body, status }) => {
        // The guard has set the value, but Elysia has no type for it here.
        const { fields, faults } = inspect(NoteInput, (body as { value: unknown }).value)
        refuseFaults(faults)
        const note = await db.transaction(async (statements) => {
          const { text } = fields as Static<typeof NoteInput>
          const many = await statements.get<{ n: number }>(sql`select count(*) as n from notes_notes where site_id = ${site.id}`)
          if (many!.n >= settings.most) throw new AppError("limit_reached", "There are many notes already.", { limit: settings.most })
          const made = (await statements.get<Note>(
            sql`insert into notes_notes (site_id, text) values (${site.id}, ${text}) returning id, site_id, text`,
          ))!
          const target = { type: "note", id: made.id, label: text }
          await audit.write(statements, actor, { action: "notes.note.create", target, siteId: site.id, changes: { text: [null, text] } })
          return made
        })
        return status(201, note)
      },
      { can: "notes:write", detail: { summary: "Make a note" } },
    )
  const all = host.instanceRouter().get("/all-notes", () => db.get<{ n: number }>(sql`select count(*) as n from notes_notes`), {
    instanceAdmin: true,
    detail: { summary: "Count the notes of all sites" },
  })
  const slow = host.throttle(2, 60_000)
  const open = host.openRouter().get(`/${settings.prefix}/:id`, async ({ params, request, server }) => {
    slow.take({ request, server }, params.id)
    const note = await db.get<Note>(sql`select id, site_id, text from notes_notes where id = ${parseId(params.id) ?? 0}`)
    if (!note) throw new AppError("not_found", "This address does not exist.")
    const text = `${settings.greeting}, ${note.text}`
    return new Response(settings.loud ? text.toUpperCase() : text, { headers: { "cache-control": "public, max-age=30" } })
  })
  return { routes: [site, all], openRoutes: [open] }
}
