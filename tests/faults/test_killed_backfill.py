"""A back-fill whose model takes the whole process with it goes on when it is begun anew, and comes to an end."""

from tests.faults.house import House
from tests.review.conftest import picture
from tests.review.scripted import WORDS, hash_of
from tests.review.vlm import VALUES

DECLARE = """
from review.models import Project
from tests.review.vlm import SCRIPTED, read_with_vlm
read_with_vlm(Project.objects.get(slug="p"), SCRIPTED)
"""


def test_a_page_that_kills_the_process_is_left_out_after_three_attempts_and_the_others_are_read(house: House) -> None:
    killer = picture("killer")
    answer = {"words": WORDS, "answer": {"values": VALUES}}
    house.script(default=answer, pages={hash_of(killer): {"words": WORDS, "answer": {"values": {}, "fault": "kill"}}})
    assert house.run("shell", "-c", DECLARE).returncode == 0
    house.send(one=picture("one"), killer=killer, two=picture("two"))
    codes: list[int] = []
    while not codes or codes[-1]:
        done = house.run("backfill", "--project", "p")
        codes.append(done.returncode)
        assert codes[-1] in (0, -9), done.stderr
        assert len(codes) < 6
    # Once with the others beside it, then alone until nothing is left of its attempts.
    assert codes == [-9, -9, -9, 0]
    reads = {
        name: (state, code)
        for name, state, code in house.rows(
            "SELECT d.filename, r.state, r.error_code FROM review_document d"
            " JOIN review_extractionrun e ON e.document_id = d.id JOIN review_pageread r ON r.run_id = e.id"
        )
    }
    assert reads == {"killer": ("failed", "engine_failed"), "one": ("read", ""), "two": ("read", "")}
    assert not set(house.statuses().values()) & {"received", "processing"}
