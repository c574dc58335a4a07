import { useState } from "preact/hooks"
import { Choice, TextField } from "#plugin/ui"
import type { FieldsProps } from "./editor.tsx"

/** Fields for the schedule, the click limit and the password of a link. */
export function LimitFields({ draft, set, errorOf, timezone, hasPassword }: FieldsProps & { timezone: string; hasPassword: boolean }) {
  const zone = `Time in ${timezone.replaceAll("_", " ")}.`
  const [isUsed] = useState(draft.starts !== "" || draft.expires !== "" || draft.maxClicks !== "" || hasPassword)
  return (
    <details open={isUsed}>
      <summary>Schedule, limit and password</summary>
      <div class="stack details-body">
        <div class="link-builder link-fields">
          <TextField
            label="Starts"
            type="datetime-local"
            value={draft.starts}
            onValue={(starts) => set({ starts })}
            error={errorOf("/starts_at")}
            note={zone}
          />
          <TextField
            label="Expires"
            type="datetime-local"
            value={draft.expires}
            onValue={(expires) => set({ expires })}
            error={errorOf("/expires_at")}
            note={zone}
          />
          <TextField
            label="Maximum clicks"
            type="number"
            min={1}
            value={draft.maxClicks}
            onValue={(maxClicks) => set({ maxClicks })}
            error={errorOf("/max_clicks")}
            note="Only clicks by people count towards the limit."
          />
          <TextField
            label="Destination after expiry"
            type="url"
            code
            value={draft.expiredDestination}
            onValue={(expiredDestination) => set({ expiredDestination })}
            error={errorOf("/expired_destination")}
            note="Leave empty to show a page that says the link has expired."
            autocomplete="off"
          />
        </div>
        <TextField
          label={hasPassword ? "New password" : "Password"}
          type="password"
          autocomplete="new-password"
          value={draft.password ?? ""}
          disabled={draft.password === null}
          onValue={(password) => set({ password })}
          error={errorOf("/password")}
          note={
            hasPassword
              ? "Leave empty to keep the current password. After a change, everyone has to enter the new one."
              : "Visitors enter it before they are redirected."
          }
        />
        {hasPassword && (
          <Choice label="Remove password" checked={draft.password === null} onChange={(isGone) => set({ password: isGone ? null : "" })} />
        )}
      </div>
    </details>
  )
}
