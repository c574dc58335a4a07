import { Type as t } from "@sinclair/typebox"
import { type Host, leaveUnread, NoQuery, readNothing, readOptionalJson, Sent } from "#plugin"
import { archiveOf } from "./backup-archive.ts"
import { BackupShown, shownBackup } from "./backup-shown.ts"
import { begin, JobShown } from "./jobs.ts"
import { answers, refuses, SENT } from "./sent.ts"
import { fileHeaders, says, streamed } from "./shapes.ts"

/** Backups of both stores. */
export const backupRoutes = (host: Host) => {
  const { backups } = host.services.console
  type Params = Record<string, string | undefined>
  const find = async ({ id }: Params) => void (await backups.find(id))

  return host
    .instanceRouter()
    .get(
      "/admin/backups",
      async () => {
        const { backups: all, bucketError } = await backups.list()
        return { data: all.map(shownBackup), ...(bucketError !== undefined && { hindrance: bucketError }) }
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        response: {
          200: t.Object({
            data: t.Array(BackupShown),
            hindrance: t.Optional(t.String({ description: "Reason why the backups in the bucket could not be listed." })),
          }),
        },
        detail: says("List backups"),
      },
    )
    .post("/admin/backups", ({ actor, ...call }) => begin(host, call, (kept) => backups.create(actor, call.body.value, kept)), {
      instanceAdmin: { read: readOptionalJson(64 << 10) },
      query: NoQuery,
      body: Sent,
      response: { 202: JobShown },
      detail: { ...says("Create a backup", SENT.backup), ...refuses("backup_running", "restore_running", "not_enough_space") },
    })
    .post(
      "/admin/backups/upload",
      async ({ actor, request, set }) => {
        const manifest = await backups.upload(actor, await archiveOf(request))
        set.status = 201
        set.headers.location = `/api/private/admin/backups/${manifest.id}`
        return shownBackup(await backups.get(manifest.id))
      },
      {
        // Also as a form: a fresh proof and the own origin are asked for.
        instanceAdmin: { sudo: true, multipart: true, read: leaveUnread },
        query: NoQuery,
        response: { 201: BackupShown },
        detail: {
          ...says("Upload a backup as a tar archive"),
          ...refuses("backup_corrupt", "backup_too_new", "backup_foreign", "not_enough_space", "body_too_large", "validation_failed"),
        },
      },
    )
    .get("/admin/backups/:id", async ({ params }) => shownBackup(await backups.find(params.id)), {
      instanceAdmin: { find },
      query: NoQuery,
      response: { 200: BackupShown },
      detail: says("Get a backup"),
    })
    .get(
      "/admin/backups/:id/download",
      async ({ actor, params }) => {
        const { name, bytes, stream } = await backups.download(actor, params.id)
        return new Response(streamed(stream), { headers: { ...fileHeaders("application/x-tar", name), "content-length": String(bytes) } })
      },
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        detail: {
          ...says("Download a backup as a tar archive"),
          ...refuses("backup_running", "backup_corrupt", "invalid_state"),
          ...answers("application/x-tar"),
        },
      },
    )
    .post(
      "/admin/backups/:id/verify",
      ({ actor, params, ...call }) => begin(host, call, (kept) => backups.verify(actor, params.id, call.body.value, kept)),
      {
        instanceAdmin: { find, read: readOptionalJson(64 << 10) },
        query: NoQuery,
        body: Sent,
        response: { 202: JobShown },
        detail: { ...says("Verify a backup", SENT.verification), ...refuses("backup_running", "backup_corrupt") },
      },
    )
    .post(
      "/admin/backups/:id/restore",
      ({ actor, params, ...call }) => begin(host, call, (kept) => backups.restore(actor, params.id, call.body.value, kept)),
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        body: Sent,
        response: { 202: JobShown },
        detail: {
          ...says("Restore a backup", SENT.restore),
          ...refuses(
            "backup_corrupt",
            "backup_too_new",
            "backup_foreign",
            "wrong_passphrase",
            "not_enough_space",
            "backup_running",
            "restore_running",
          ),
        },
      },
    )
    .delete(
      "/admin/backups/:id",
      async ({ actor, params, status }) => {
        await backups.remove(actor, params.id)
        return status(204, undefined)
      },
      {
        instanceAdmin: { find, sudo: true, read: readNothing },
        query: NoQuery,
        detail: { ...says("Delete a backup"), ...refuses("backup_running", "restore_running") },
      },
    )
}
