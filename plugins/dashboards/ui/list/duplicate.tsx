import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Checkbox, Dialog, Form, post, TextField, toast, useMe, visible } from "#plugin/ui"
import type { BoardRow, DuplicateResponse } from "../../responses.ts"
import { boardAddress, boardPath, useRefresh } from "../answers.ts"

interface DuplicateProps {
  siteId: number
  board: BoardRow
  onClose(): void
}

const MAX_NAME = 100

/** Dialog that copies a dashboard to this site and to others, and says what the others do not have. */
export function Duplicate({ siteId, board, onClose }: DuplicateProps) {
  const sites = (useMe()?.sites ?? []).filter(({ permissions }) => permissions.includes("dashboards:read"))
  const [name, setName] = useState(`${board.name} copy`.slice(0, MAX_NAME))
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set([siteId]))
  const [copied, setCopied] = useState<DuplicateResponse>()
  const [, navigate] = useLocation()
  const refresh = useRefresh(siteId)
  const nameOf = (id: number) => visible(sites.find((site) => site.id === id)?.name ?? `Site ${id}`)
  const submit = async () => {
    const answer = await post<DuplicateResponse>(`${boardPath(siteId, board.id)}/duplicate`, { name, target_site_ids: [...chosen] })
    await refresh()
    const [only] = answer.results
    if (answer.results.length === 1 && only?.dashboard && only.unmapped.length === 0) {
      toast(`${visible(only.dashboard.name)} created`)
      onClose()
      navigate(boardAddress(only.site_id, only.dashboard.id))
    } else setCopied(answer)
  }
  if (copied)
    return (
      <Dialog title="Copies" onClose={onClose}>
        <ul class="plain-list stack">
          {copied.results.map(({ site_id, dashboard, unmapped, error }) => (
            <li key={site_id}>
              <strong>{nameOf(site_id)}</strong>{" "}
              {dashboard ? <a href={boardAddress(site_id, dashboard.id)}>Open copy</a> : <span>Not copied: {error?.detail}</span>}
              {unmapped.length > 0 && (
                <p class="small quiet">
                  Not found on this site: {unmapped.map((one) => `${one.kind} ${visible(one.name)}`).join(", ")}. The widgets that need them
                  say so.
                </p>
              )}
            </li>
          ))}
        </ul>
        <div class="dialog-foot">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    )
  const toggle = (id: number) => (checked: boolean) => {
    const next = new Set(chosen)
    if (checked) next.add(id)
    else next.delete(id)
    setChosen(next)
  }
  return (
    <Dialog title={`Duplicate ${visible(board.name)}`} onClose={onClose}>
      <Form submit={submit} label="Duplicate dashboard">
        {({ busy, errorOf }) => (
          <>
            <TextField label="Name" value={name} onValue={setName} maxLength={MAX_NAME} error={errorOf("/name")} />
            {sites.length > 1 && (
              <fieldset class="stack plain-fieldset">
                <legend>Copy to</legend>
                <div class="choice-list">
                  {sites.map((site) => (
                    <Checkbox key={site.id} label={visible(site.name)} checked={chosen.has(site.id)} onChange={toggle(site.id)} />
                  ))}
                </div>
              </fieldset>
            )}
            <p class="small quiet">
              Copies are visible to you only. On other sites, goals, funnels and other things are found by their names.
            </p>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={chosen.size === 0}>
                {chosen.size > 1 ? `Create ${chosen.size} copies` : "Create copy"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
