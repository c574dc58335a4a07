import { useState } from "preact/hooks"
import { Button, type Column, DataTable, Dialog, exact, Field, Form, post, TextArea, toast, visible } from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"
import { linksPath, useRefresh } from "./answers.ts"
import type { PanelProps } from "./domains.tsx"

type Row = ImportResponse["rows"][number]

const FORMATS: Readonly<Record<string, string>> = { bitly: "Bitly", shlink: "Shlink", yourls: "YOURLS", dub: "Dub", plain: "plain CSV" }
/** Maximum number of rows in the preview, which lists failed rows first. */
const MAX_ROWS = 200

/** Imports links from a CSV file of another product. Shows a preview of each row before anything is written. */
export default function Import({ siteId, onClose }: PanelProps) {
  const refresh = useRefresh(siteId)
  const [csv, setCsv] = useState("")
  const [preview, setPreview] = useState<ImportResponse>()
  const send = (apply: boolean) => post<ImportResponse>(`${linksPath(siteId)}/import`, { csv, apply })
  const submit = async () => {
    if (!preview) return setPreview(await send(false))
    const { counts, rows } = await send(true)
    await refresh()
    toast(`${exact(counts.ok)} links imported${counts.failed > 0 ? `, ${exact(counts.failed)} rows failed` : ""}`)
    if (counts.failed > 0) setPreview({ ...preview, counts: { ok: 0, failed: counts.failed }, rows: rows.filter(isFailed) })
    else onClose()
  }
  const change = (text: string) => {
    setCsv(text)
    setPreview(undefined)
  }
  return (
    <Dialog title="Import links" onClose={onClose} wide>
      <Form submit={submit} label="Import links">
        {({ busy, errorOf }) => (
          <>
            <p class="quiet">
              A CSV file from Bitly, Shlink, YOURLS or Dub, or one with the columns <code>slug,destination,title,tags</code>. Clicks are not
              imported.
            </p>
            <Field label="File">
              {(described) => (
                <input
                  {...described}
                  class="input"
                  type="file"
                  accept=".csv,text/csv"
                  onChange={async (event) => {
                    const [file] = event.currentTarget.files ?? []
                    if (file) change(await file.text())
                  }}
                />
              )}
            </Field>
            <TextArea label="Or paste the content" value={csv} onValue={change} rows={6} error={errorOf("/csv")} />
            {preview && <Preview of={preview} />}
            <div class="dialog-foot">
              <Button onClick={onClose}>Close</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={csv.trim() === "" || preview?.counts.ok === 0}>
                {preview ? `Import ${exact(preview.counts.ok)} links` : "Preview"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const isFailed = ({ status }: Row): boolean => status === "failed"

function Preview({ of: { format, counts, rows } }: { of: ImportResponse }) {
  const shown = [...rows.filter(isFailed), ...rows.filter((row) => !isFailed(row))].slice(0, MAX_ROWS)
  return (
    <div class="stack">
      <p role="status">
        Read as {FORMATS[format] ?? format}: {exact(counts.ok)} rows can be imported, {exact(counts.failed)} have problems.
        {rows.length > MAX_ROWS && ` Shows the first ${MAX_ROWS}, problems first.`}
      </p>
      <DataTable caption="Rows of the file" rows={shown} keyOf={({ line }) => line} columns={COLUMNS} />
    </div>
  )
}

const COLUMNS: Column<Row>[] = [
  { id: "line", label: "Line", cell: ({ line }) => exact(line) },
  { id: "slug", label: "Slug", cell: ({ slug }) => (slug === null ? <span class="quiet">random</span> : visible(slug)) },
  { id: "target", label: "Destination", cell: ({ destination }) => <span class="link-notes">{visible(destination)}</span> },
  {
    id: "what",
    label: "Result",
    cell: ({ error, status }) => (error ? visible(error.detail) : status === "created" ? "imported" : "ready"),
  },
]
