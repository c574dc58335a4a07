import { ButtonLink } from "../../parts/button.tsx"
import { Card } from "../../parts/card.tsx"

/** Goals, funnels and properties have pages of their own, beside their numbers. */
export const GoalsAndProperties = ({ siteId }: { siteId: number }) => (
  <>
    <Card title="Goals">
      <p class="quiet">What counts as a conversion: an event, a page, a depth of scrolling. Goals count the past too.</p>
      <p>
        <ButtonLink href={`/sites/${siteId}/goals`}>Open goals</ButtonLink>
      </p>
    </Card>
    <Card title="Funnels">
      <p class="quiet">Steps on the way to a goal, and where people leave it.</p>
      <p>
        <ButtonLink href={`/sites/${siteId}/funnels`}>Open funnels</ButtonLink>
      </p>
    </Card>
    <Card title="Properties">
      <p class="quiet">Properties need no set-up: each one that an event carries is listed with the event.</p>
      <p>
        <ButtonLink href={`/sites/${siteId}/events`}>Open events</ButtonLink>
      </p>
    </Card>
  </>
)
