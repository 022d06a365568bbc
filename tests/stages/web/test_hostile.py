"""Nobody leads the fetcher to a place that may not be asked: counted where they would arrive."""

from __future__ import annotations

import pytest

from holdfast.stages.web.networks import allowed_of, why_refused
from tests.stages.web import hostile

NOTHING = allowed_of([], [])


@pytest.mark.parametrize("form", hostile.FORMS)
def test_no_form_of_an_inner_address_may_be_asked(form: str) -> None:
    from tests.stages.web.servers import no_names

    for answer in no_names(form.strip("[]"), 80):
        assert why_refused(answer, form, NOTHING)


def test_there_are_eighty_forms_and_sixty_urls() -> None:
    assert len(hostile.FORMS) >= 80
    assert len(set(hostile.URLS)) == 60


@pytest.mark.parametrize(
    "public",
    ["93.184.216.34", "8.8.8.8", "2a00:1450:4001::1", "64:ff9b::808:808", "::ffff:8.8.8.8"],
)
def test_a_public_address_may_be_asked(public: str) -> None:
    assert why_refused(public, "any.example", NOTHING) is None


def test_no_redirect_leads_inside() -> None:
    count = hostile.redirects(hostile.URLS[::6])

    assert (count.got_in, count.brought) == (0, 0)
    assert count.refused >= count.tried - 5  # `http:/x` is a path of the public site


@pytest.mark.slow
def test_sixty_urls_behind_four_redirects_each_reach_nothing() -> None:
    count = hostile.redirects(hostile.URLS)

    assert (count.got_in, count.brought, count.tried) == (0, 0, 300)


def test_without_the_guard_the_same_addresses_are_reached() -> None:
    everything = allowed_of([], hostile.EVERYWHERE)

    assert hostile.redirects(hostile.URLS[42:], everything).got_in
    assert hostile.forms(everything).got_in > 70


def test_eighty_forms_reach_nothing() -> None:
    count = hostile.forms()

    assert (count.got_in, count.refused) == (0, count.tried)


def test_a_name_that_changes_after_the_check_reaches_nothing() -> None:
    count = hostile.rebinding(10)

    assert (count.got_in, count.refused) == (0, 10)


def test_the_host_that_is_checked_is_the_host_that_is_asked() -> None:
    found = hostile.agreement(400)

    assert found.disagreed == 0
    assert found.asked > 20


@pytest.mark.slow
def test_the_checked_host_is_the_asked_host_in_ten_thousand_odd_addresses() -> None:
    found = hostile.agreement(10_000)

    assert (found.disagreed, found.tried) == (0, 10_000)
