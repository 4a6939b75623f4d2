//! What a leaf takes in by its part, and what each of its users may have of that.

use headroom_core::testkit::tell_world;
use headroom_core::view::user_limits;

/// UH-21: 10,000 applications in all, of which a leaf has 40 percent; of a quarter of that a user may
/// have so many times the factor, and all of it where there is none.
#[test]
#[doc(alias = "UH-21")]
fn applications_of_a_leaf_and_its_users_follow_from_its_part() {
    for (factor, of_user) in [("f=2", 2_000), ("f=8", 4_000), ("f=off", 4_000)] {
        let world = tell_world(&format!(
            "
            queue root counts max=10000
            queue root.a percent=40 share p=25;{factor}
            queue root.b percent=60
            node n1 memory=1000
            app app1 root.a ann
            ask a1 app1 memory=1
            "
        ));
        let (id, partition) = world.books.partitions().first_key_value().unwrap();
        let leaf = world.books.queue(*partition.queues.get("root.a").unwrap());
        assert_eq!(leaf.derived_applications, Some(4_000));
        let view = user_limits(&world.books, *id).remove(0);
        assert_eq!(view.users[0].max_applications, Some(of_user), "{factor}");
    }
}

/// A leaf with amounts has the part of the type of which it is most; without nodes it is guaranteed
/// nothing, and takes in what the queue above it may.
#[test]
fn the_part_of_amounts_is_that_of_the_type_of_which_they_are_most() {
    let number = |nodes: &str| {
        let world = tell_world(&format!(
            "
            queue root counts max=100
            queue root.a absolute guaranteed memory=100 vcore=2
            queue root.b absolute guaranteed memory=100
            {nodes}
            "
        ));
        let (_, partition) = world.books.partitions().first_key_value().unwrap();
        world.books.queue(*partition.queues.get("root.a").unwrap()).derived_applications
    };
    assert_eq!(number("node n1 memory=1000 vcore=4"), Some(50), "half of all cores");
    assert_eq!(number("node n1 memory=400 vcore=40"), Some(25), "a quarter of all memory");
    assert_eq!(number(""), Some(100));
}
