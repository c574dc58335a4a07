import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, bytesText, Checkbox, counted, DescriptionList, duration, exact, Form, Problem, rangeText, TextField } from "#plugin/ui"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { importsAddress, importsPath, useRefresh, useSourceTitle } from "./answers.ts"
import type { Options } from "./options.tsx"
import { OVERLAP_LABELS } from "./overlap.tsx"
import { type Input, namesOf, saveUploads, sendInput } from "./uploads.ts"

interface ConfirmStepProps {
  siteId: number
  preview: PreviewResponse
  input: Input
  options: Options
  onBack(): void
  /** Called when the preview no longer holds and must be made again. */
  onOutdated(): void
}

/** Fourth step: what will happen, in words, and the button that starts the import. */
export function ConfirmStep({ siteId, preview, input, options, onBack, onOutdated }: ConfirmStepProps) {
  const [, navigate] = useLocation()
  const refresh = useRefresh(siteId)
  const title = useSourceTitle()
  const [label, setLabel] = useState("")
  const [isForced, setForced] = useState(false)
  const { overlap, rows, estimate, duplicate_of, preview_hash } = preview
  const start = async () => {
    const started = await sendInput<ImportResponse>(importsPath(siteId), input, {
      source: preview.source,
      options,
      preview_hash,
      ...(label.trim() !== "" && { label: label.trim() }),
      ...(isForced && { force: true }),
    })
    saveUploads(siteId, undefined)
    void refresh()
    navigate(`${importsAddress(siteId)}/${started.id}`)
  }
  return (
    <Form submit={start} label="Confirm the import">
      {({ busy, errorOf, problem }) => (
        <>
          <DescriptionList
            of={[
              ["Source", title(preview.source)],
              ["fetched" in input ? "Property" : "Files", namesOf(input).join(", ")],
              ["Days", preview.date_start && preview.date_end ? rangeText(preview.date_start, preview.date_end) : "–"],
              [
                "Imported",
                `${counted(rows.accepted, "row")} on ${counted(overlap.days_effective, "day")}${preview.complete ? "" : ", and what is beyond the preview"}`,
              ],
              ["Left out", `${counted(rows.skipped, "row")}, and ${exact(rows.rejected)} rejected`],
              ["Days with data", OVERLAP_LABELS[overlap.policy]],
              ...(options.create_goals === true ? [["Goals", "A goal for each imported event, at most 50"] as const] : []),
              ["Estimate", `${duration(Math.max(1, estimate.seconds))}, ${bytesText(estimate.bytes)} on disk`],
            ]}
          />
          {overlap.policy === "allow" && (
            <p class="import-note" data-kind="warn">
              Visits that Footfall recorded as well are counted twice.
            </p>
          )}
          <TextField
            label="Name"
            note="Shown in the list of imports. Leave empty for the name of the source."
            value={label}
            maxLength={100}
            error={errorOf("/label")}
            onValue={setLabel}
          />
          {duplicate_of !== undefined && (
            <Checkbox
              label="Import the same files again"
              note={`Import ${duplicate_of} has the same content.`}
              checked={isForced}
              onChange={setForced}
            />
          )}
          <p class="small quiet">
            Reports show the import when it is complete. You can hide it or undo it at any time; visits recorded by Footfall stay as they
            are.
          </p>
          <div class="step-foot">
            <Button onClick={onBack}>Back</Button>
            {problem instanceof Problem && problem.code === "preview_mismatch" ? (
              <Button kind="primary" onClick={onOutdated}>
                Preview again
              </Button>
            ) : (
              <Button kind="primary" type="submit" busy={busy} disabled={duplicate_of !== undefined && !isForced}>
                Start import
              </Button>
            )}
          </div>
        </>
      )}
    </Form>
  )
}
