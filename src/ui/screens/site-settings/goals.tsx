import { ButtonLink } from "../../parts/button.tsx"
import { Card } from "../../parts/page.tsx"

/** Links to the pages of goals, funnels and properties. */
export const GoalsAndProperties = ({ siteId }: { siteId: number }) => (
  <>
    <Card title="Goals">
      <p class="quiet">
        Goals count the visits that matter, such as sign-ups: by event, page or scroll depth. Goals apply to past data, too.
      </p>
      <p>
        <ButtonLink href={`/sites/${siteId}/goals`}>Manage goals</ButtonLink>
      </p>
    </Card>
    <Card title="Funnels">
      <p class="quiet">Funnels show where people drop off on the way to a goal.</p>
      <p>
        <ButtonLink href={`/sites/${siteId}/funnels`}>Manage funnels</ButtonLink>
      </p>
    </Card>
    <Card title="Properties">
      <p class="quiet">Properties need no setup. Every property sent with an event is listed with that event.</p>
      <p>
        <ButtonLink href={`/sites/${siteId}/events`}>View events</ButtonLink>
      </p>
    </Card>
  </>
)
