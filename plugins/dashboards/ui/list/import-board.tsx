import { useState } from "preact/hooks"
import { Button, Dialog, Field, Form, Problem, post, toast, visible } from "#plugin/ui"
import type { BoardResponse, ImportResponse } from "../../responses.ts"
import { boardsPath, useRefresh } from "../answers.ts"

interface ImportBoardProps {
  siteId: number
  onImported(board: BoardResponse): void
  onClose(): void
}

/** Larger than any exported dashboard. */
const MAX_BYTES = 1_000_000

/** Dialog that creates a private dashboard from an exported document, and lists what the site does not have. */
export function ImportBoard({ siteId, onImported, onClose }: ImportBoardProps) {
  const [file, setFile] = useState<File>()
  const [imported, setImported] = useState<ImportResponse>()
  const refresh = useRefresh(siteId)
  const open = (answer: ImportResponse) => {
    onClose()
    onImported(answer.dashboard)
  }
  const submit = async () => {
    if (!file)
      throw new Problem(422, "validation_failed", "Choose a file.", {
        errors: [{ pointer: "/file", code: "required", detail: "is required" }],
      })
    if (file.size > MAX_BYTES) throw new Problem(413, "payload_too_large", "The file is too large to be an exported dashboard.")
    const answer = await post<ImportResponse>(`${boardsPath(siteId)}/import`, await parsed(file))
    await refresh()
    toast(`${visible(answer.dashboard.name)} imported`)
    if (answer.mapping.every(({ found }) => found)) open(answer)
    else setImported(answer)
  }
  if (imported) {
    const missing = imported.mapping.filter(({ found }) => !found)
    return (
      <Dialog title="Dashboard imported" onClose={onClose} small>
        <p>This site doesn't have everything that the dashboard shows. These widgets need a replacement:</p>
        <ul class="plain-list">
          {missing.map(({ reference: { kind, name } }, index) => (
            <li key={index}>
              The {kind} <strong>{visible(name)}</strong>
            </li>
          ))}
        </ul>
        <div class="dialog-foot">
          <Button kind="primary" onClick={() => open(imported)}>
            Open dashboard
          </Button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Import dashboard" onClose={onClose} small>
      <Form submit={submit} label="Import dashboard">
        {({ busy, errorOf }) => (
          <>
            <p class="quiet">Goals, funnels and other things are found by their names. The new dashboard is visible to you only.</p>
            <Field label="File" note="A JSON file that was exported from a dashboard." error={errorOf("/file")}>
              {(described) => (
                <input
                  class="input"
                  type="file"
                  accept="application/json,.json"
                  {...described}
                  onChange={(event) => setFile(event.currentTarget.files?.[0])}
                />
              )}
            </Field>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Import dashboard
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

async function parsed(file: File): Promise<unknown> {
  try {
    return JSON.parse(await file.text())
  } catch {
    throw new Problem(422, "malformed_json", "This file is not JSON, so it is not an exported dashboard.")
  }
}
